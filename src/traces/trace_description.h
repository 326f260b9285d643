/* SPDX-License-Identifier: MIT */
/* The description of an address trace: the program, the tool that made it, and the mappings. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* After the name of a trace: the allocation log that goes with it. */
#define LODE_TRACE_LOG_SUFFIX ".allocations"

typedef struct {
	uint64_t start, end;      /* run-time addresses [start, end) */
	uint64_t offset;          /* of `start` in the file */
	uint64_t first_reference; /* of the trace, from which on it is there */
	uint32_t protection;      /* PROT_… */
	char *path;               /* "/usr/bin/gzip", "[heap]", "[stack]", "[anon]" */
	char *build_id;           /* hex; NULL: none, or not known */
} LodeTraceMapping;

typedef struct {
	uint32_t tid; /* of the system; 0: not known */
	char *name;   /* NULL: not known */
} LodeTraceThread;

/* A figure of the tool that made the trace, to be compared with the trace's content. */
typedef struct {
	char *name; /* "instructions" */
	uint64_t value;
} LodeTraceTotal;

typedef struct {
	GStringChunk *strings; /* owns every string below */
	char *command;         /* the command line; NULL: not known */
	char *tool;        /* "qemu-x86_64 7.2.22", "lackey 3.19.0", "din" …; NULL: not known */
	char *build;       /* version of lode that packed it */
	GArray *mappings;  /* LodeTraceMapping, by first_reference; a later one covers */
	GArray *threads;   /* LodeTraceThread, by number */
	GArray *totals;    /* LodeTraceTotal */
	char *allocations; /* a log of them, timed by references; NULL: none. Not in the file */
	bool is_partial;   /* the recording began late, or was ended before the program */
} LodeTraceDescription;

/* Empty; never NULL. */
LodeTraceDescription *lode_trace_description_new(void);
void lode_trace_description_free(LodeTraceDescription *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceDescription, lode_trace_description_free)

/* With strings of its own. Never NULL. */
LodeTraceDescription *lode_trace_description_copy(const LodeTraceDescription *self);

/* Its own copy of a text, one for equal texts; NULL for NULL. */
char *lode_trace_description_intern(LodeTraceDescription *self, const char *text);
