/* SPDX-License-Identifier: MIT */
/*
 * The threads of all processes. Events are applied at once, or kept and applied in the order of
 * time when all are there.
 */
#pragma once

#include "sources/perf_data/perf_data.h"

typedef struct {
	GArray *events;       /* private: what happened, until it is sorted */
	GArray *threads;      /* LodeThread; names are this struct's */
	GHashTable *by_id;    /* pid and tid → their last thread's index + 1 */
	GHashTable *n_of_pid; /* threads that a process has had beside its first one */
	GArray *starters;     /* uint32_t, of each thread: the one that started it; UINT32_MAX */
	GArray *previous;     /* uint32_t: the thread that had the same ids before; UINT32_MAX */
	GStringChunk *names;
	uint32_t known[256]; /* private: threads found, whose ids no other had; UINT32_MAX */
	guint limit;         /* of threads: those beyond it count as the last one */
	uint64_t n_merged;   /* look-ups of threads beyond the limit */
} LodeThreads;

enum { LODE_MAX_THREADS = 1 << 22 };

/* `limit`: see above; 0: LODE_MAX_THREADS. */
void lode_threads_init(LodeThreads *self, guint limit);
void lode_threads_clear(LodeThreads *self);

/* A fork, an exit, a command's name; others are ignored. To apply, in the order of time, or to
 * note, in any order. */
void lode_threads_apply(LodeThreads *self, const LodePerfRecord *record, uint64_t time_ns);
void lode_threads_note(LodeThreads *self, const LodePerfRecord *record, uint64_t time_ns);

/* Applies the noted events, before threads are looked up; again when more were noted. */
void lode_threads_freeze(LodeThreads *self);

/* The thread that had these ids at that time; one that nothing was said of is added. */
uint32_t lode_threads_find(LodeThreads *self, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* Likewise, but adds none: LODE_NONE where no thread ever had these ids. */
uint32_t lode_threads_look_up(
	const LodeThreads *self, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* The thread that started one; LODE_NONE: not known. */
uint32_t lode_threads_starter(const LodeThreads *self, uint32_t thread);

/* Numbers the threads of each process in the order of their beginning, the first one first. Until
 * then they have numbers in the order in which they were added. */
void lode_threads_number(LodeThreads *self);
