/* SPDX-License-Identifier: MIT */
/*
 * Lode's side of the memory that it shares with a traced program, see trace_ring_format.h. The
 * program may write anything into it: all values from it are bounded here.
 */
#pragma once

#include "record/qemu/trace_ring_format.h"
#include "traces/blocks/code_pieces.h"

#include <glib.h>
#include <stdbool.h>

typedef struct LodeTraceRing LodeTraceRing;

/* Errors: _IO. */
LodeTraceRing *lode_trace_ring_new(GError **error);
void lode_trace_ring_free(LodeTraceRing *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceRing, lode_trace_ring_free)

/* Where a child of ours can open the memory; borrowed. */
const char *lode_trace_ring_path(const LodeTraceRing *self);

/* To be called before the program runs: words that change nothing in such caches are left out. */
void lode_trace_ring_filter(LodeTraceRing *self, const LodeWordFilterGeometry *filter);

/* To be called before the program runs: it waits for us whenever it has mapped code. */
void lode_trace_ring_ask_for_functions(LodeTraceRing *self);

/* Where a function begins in a process. False when the table is full. */
bool lode_trace_ring_add_function(LodeTraceRing *self, uint32_t process, uint64_t address);

typedef struct {
	uint32_t process;     /* numbered as they began, from 0 */
	uint32_t thread, tid; /* likewise, those of the process */
	uint32_t n;           /* words */
	TraceEventKind event;
	union {
		uint64_t words[TRACE_CHUNK_WORDS];
		TraceEvent details; /* its path is terminated */
	};
} LodeTraceRingChunk;

/*
 * The next chunk, copied: true; false when none came for some milliseconds, or none will come any
 * more. The chunk before counts as dealt with.
 */
bool lode_trace_ring_next(LodeTraceRing *self, LodeTraceRingChunk *out_chunk);

/* The pieces of code that the words of all processes refer to. */
LodeCodePieces *lode_trace_ring_pieces(LodeTraceRing *self);

/* Threads that are not traced, as there were too many at a time. */
uint32_t lode_trace_ring_n_untraced_threads(const LodeTraceRing *self);

/* Processes that are not traced, as there were too many. */
uint32_t lode_trace_ring_n_untraced_processes(const LodeTraceRing *self);

/* Nothing more is wanted of one process. */
void lode_trace_ring_stop_process(LodeTraceRing *self, uint32_t process);

/* Nothing more is wanted: the program goes on untraced. From any thread. */
void lode_trace_ring_stop(LodeTraceRing *self);

/* The program has ended. From any thread. */
void lode_trace_ring_end(LodeTraceRing *self);
bool lode_trace_ring_has_ended(const LodeTraceRing *self);

/* Chunks that were taken, and chunks that have ended: what a process that has ended has written
 * into chunks that ended has been taken when the first is as many as the second was after its
 * death. */
uint64_t lode_trace_ring_n_read(const LodeTraceRing *self);
uint64_t lode_trace_ring_n_stamped(const LodeTraceRing *self);

/*
 * After that: what stands in chunks of a process that were not full yet, in the order in which
 * these began. False: no more.
 */
bool lode_trace_ring_take_rest(
	LodeTraceRing *self, uint32_t process, LodeTraceRingChunk *out_chunk);
