/* SPDX-License-Identifier: MIT */
/*
 * What is known of a program, in parts: its code, how it ran, and what was observed besides.
 *
 * Every recording becomes a profile; the store writes and reads it whole and every analysis starts
 * from it. Who needs one part includes the header of that, with lode_code_of(), lode_memory_of() …
 */
#pragma once

#include "model/code.h"
#include "model/run/program_run.h"

typedef struct LodeMemory LodeMemory;
typedef struct LodeOriginParts LodeOriginParts;
typedef struct LodeStacks LodeStacks;
typedef struct LodeWaits LodeWaits;
typedef struct LodeWindows LodeWindows;

/* Which file a profile was read from or written to, so that its results go into that one. */
typedef struct LodeProfileFile {
	uint64_t device, inode; /* 0: none */
	char content[17];       /* what the file says identifies its content; "": nothing */
} LodeProfileFile;

struct LodeProfile {
	LodeCode code; /* first: lode_code_of() */
	LodeProgramRun run;

	GStringChunk *strings; /* owns every string */
	LodeProfileFile file;  /* kept by the store */
	/* The description of a part (analyses/parts/), "thread worker: 31 % of the weight", and the
	 * options that choose it; NULL: the whole. Not stored. */
	char *part, *part_options;

	GArray *unresolved;            /* LodeUnresolved */
	LodeMemory *memory;            /* data addresses; NULL: none were recorded */
	LodeStacks *stacks;            /* of samples; NULL: there are none, or they were not read */
	LodeWindows *windows;          /* executed step by step; NULL: none were recorded */
	GArray *loops;                 /* LodeLoop: natural loops that executed */
	GArray *thread_times;          /* LodeThreadTime; empty: no switches were recorded */
	LodeWaits *waits;              /* NULL: nobody looked at threads that wait */
	GArray *origins;               /* LodeOrigin; empty: of a flow file, or lode 0.1.0 */
	LodeOriginParts *origin_parts; /* what each gave; NULL: nothing was merged, or not read */
};

/* An empty profile with no events; never NULL. Free with lode_profile_free(). */
LodeProfile *lode_profile_new(void);
void lode_profile_free(LodeProfile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProfile, lode_profile_free)

/* The profile's own copy of `text`, one for equal texts; NULL for NULL. Valid while it lives. */
char *lode_profile_intern(LodeProfile *self, const char *text);
