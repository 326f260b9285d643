/* SPDX-License-Identifier: MIT */
/*
 * The samples of a recording: thread, time, weight, and where they were taken. Where calls were
 * recorded these are call stacks. Stacks that begin alike, at main(), share their outer part:
 *
 *   sample ──▶ stack ── frame     copy   buffer.c:40
 *                │ outer
 *                ▼
 *              stack ── frame     read   input.c:12
 *                │ outer
 *                ▼
 *              stack ── frame     main   main.c:9
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeProfile LodeProfile;

enum { LODE_STACK_MAX_DEPTH = 4096 }; /* frames in a stack, those inlined too */

/* A place in code that was on a stack: what ran, or a call. Strings are the profile's. */
typedef struct LodeFrame {
	char *function;   /* demangled; NULL: unknown */
	char *image;      /* path of the image; NULL: unknown */
	char *file;       /* of the source; NULL: unknown */
	uint64_t address; /* in the image; without one, at run time */
	uint32_t line;    /* 0: unknown */
	bool is_inlined;  /* into the function of the stack's outer frame */
} LodeFrame;

typedef struct {
	uint32_t frame; /* the innermost */
	uint32_t outer; /* the stack that called it, a row before it; LODE_NONE: not known */
} LodeStack;

typedef struct {
	char *name; /* NULL: unknown */
	uint32_t pid, tid;
} LodeStackThread;

typedef struct {
	uint64_t time_ns; /* of the recording's clock; 0: not recorded */
	double weight;    /* of the event */
	uint32_t event;
	uint32_t thread;
	uint32_t stack;  /* LODE_NONE: nothing is known of where it was */
	uint32_t n_more; /* samples besides the first: its weight is the sum of all */
} LodeStackSample;

typedef struct LodeStacks {
	GArray *frames;       /* LodeFrame, no two equal */
	GArray *stacks;       /* LodeStack, no two equal */
	GArray *instructions; /* uint32_t × stacks: of the profile, where samples of it are;
	                         LODE_NONE: none. Empty: not known, as in profiles of before */
	GArray *threads;      /* LodeStackThread */
	GArray *samples;      /* LodeStackSample; those with calls, then those without, each in the
	                         order of the recording */
	bool has_chains; /* calls were recorded; else each stack is the sampled code alone, … */
	bool has_tops;   /* …or with a few callers, as far as the recorded top of the thread's
	                    stack reaches, to the first that is not in a system library */
} LodeStacks;

/* The instruction at which samples of a stack, which may be LODE_NONE, were taken; LODE_NONE: none
 * is known. */
static inline uint32_t lode_stacks_instruction(const LodeStacks *self, uint32_t stack)
{
	return stack < self->instructions->len ? g_array_index(self->instructions, uint32_t, stack)
	                                       : UINT32_MAX;
}

/* When the samples were taken; first_ns 0: no sample has a time. */
typedef struct {
	uint64_t first_ns, length_ns; /* length 0 also where all have one time */
} LodeStackSpan;

LodeStackSpan lode_stacks_span(const LodeStacks *self);

/* Those of a profile; NULL: there are none, or they were not read. */
LodeStacks *lode_stacks_of(const LodeProfile *profile);

/* Empty; never NULL. */
LodeStacks *lode_stacks_new(void);
void lode_stacks_free(LodeStacks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeStacks, lode_stacks_free)
