/* SPDX-License-Identifier: MIT */
/*
 * Which mappings are stacks of threads, and whose at what time, by where stack pointers were seen.
 *
 *   one thread at a time, near the end of the mapping or above a guard page   a stack, of that
 * thread several threads at the same time, or the first thread too                 memory that
 * holds stacks (goroutines, coroutines)
 *
 * A thread library gives the stack of a thread that has ended to a later one.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeThreadStacks LodeThreadStacks;

LodeThreadStacks *lode_thread_stacks_new(void);
void lode_thread_stacks_free(LodeThreadStacks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeThreadStacks, lode_thread_stacks_free)

/* A thread's stack pointer was in a mapping; both are the caller's numbers. */
void lode_thread_stacks_note(LodeThreadStacks *self, uint32_t mapping, uint32_t thread,
	uint64_t pointer, uint64_t time_ns);

typedef struct {
	uint32_t mapping, thread;
	uint64_t since_ns; /* until the next of the same mapping; the first one's is 0 */
} LodeThreadStack;

/* A mapping that may be a stack, as the caller describes it. */
typedef struct {
	uint64_t start, end;
	bool has_guard; /* below it nothing may be accessed, by a mapping of its own */
} LodeStackMapping;

typedef LodeStackMapping (*LodeStackMappingOf)(void *data, uint32_t mapping, uint64_t time_ns);

/* LodeThreadStack by mapping and time; `threads`: LodeThread by the numbers that were noted. The
 * caller unrefs it. */
GArray *lode_thread_stacks_find(const LodeThreadStacks *self, const GArray *threads,
	LodeStackMappingOf mapping_of, void *data);
