/* SPDX-License-Identifier: MIT */
/* The threads of a recording, in the order of their creation. */
#pragma once

#include "model/memory.h"
#include "sources/perf_data.h"

typedef struct {
	GArray *events;    /* private: what happened, until it is sorted */
	GArray *threads;   /* LodeThread; names are this struct's */
	GHashTable *by_id; /* pid and tid → their last thread's index + 1 */
	GArray *previous;  /* uint32_t: the thread that had the same ids before; UINT32_MAX */
	GStringChunk *names;
} LodeThreads;

void lode_threads_init(LodeThreads *self);
void lode_threads_clear(LodeThreads *self);

/* A fork, an exit, a command's name; others are ignored. In any order. */
void lode_threads_note(LodeThreads *self, const LodePerfRecord *record, uint64_t time_ns);

/* To be called before threads are looked up, and again when more was noted. */
void lode_threads_freeze(LodeThreads *self);

/* The thread that had these ids at that time; one that nothing was said of is added. */
uint32_t lode_threads_find(LodeThreads *self, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* Likewise, but adds none: LODE_NONE where no thread ever had these ids. */
uint32_t lode_threads_look_up(
	const LodeThreads *self, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* Numbers the threads of each process in the order of their beginning, the first one first. */
void lode_threads_number(LodeThreads *self);
