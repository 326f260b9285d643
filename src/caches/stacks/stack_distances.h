/* SPDX-License-Identifier: MIT */
/*
 * LRU stack distances: for each reference, how many other lines were used since this line was used
 * last. One pass gives the misses of every fully associative LRU cache size at once.
 *
 * Source: R. Mattson, J. Gecsei, D. Slutz, I. Traiger, "Evaluation techniques for storage
 * hierarchies", IBM Systems Journal 9(2), 1970; counted by a tree over time stamps as in F. Olken,
 * "Efficient methods for calculating the success function of fixed space replacement policies",
 * LBL-12370, 1981.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"
#include "traces/frames/trace_frame.h"

enum {
	LODE_STACK_DISTANCES_MIN_LINE = 4,
	LODE_STACK_DISTANCES_MAX_LINE = 1 << 30,
	LODE_STACK_DISTANCES_MAX_LINES = 1 << 24,     /* 0.8 GB of memory; a few more do no harm */
	LODE_STACK_DISTANCES_MAX_REFERENCE = 1 << 20, /* bytes */
	LODE_STACK_DISTANCES_MAX_COUNTS = 1 << 27,    /* by thread: threads × lines; 1 GiB */
};

typedef struct {
	uint32_t line_bytes; /* a power of two within the bounds above */
	uint8_t holds;       /* LODE_CACHE_… bits: the references counted */
	uint32_t max_lines;  /* 0: MAX_LINES */
	bool by_thread;      /* who uses a line is counted too */
} LodeStackDistancesOptions;

typedef struct LodeStackDistances LodeStackDistances;

LodeStackDistances *lode_stack_distances_new(const LodeStackDistancesOptions *options);
void lode_stack_distances_free(LodeStackDistances *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeStackDistances, lode_stack_distances_free)

/* All references of a frame; frames in their order; threads as they are interleaved. A reference
 * that crosses a line counts once for each line; one of no size as one byte. Errors: _LIMIT (more
 * lines than MAX_LINES, a reference larger than MAX_REFERENCE, by thread more than MAX_COUNTS). */
bool lode_stack_distances_replay(
	LodeStackDistances *self, const LodeTraceFrame *frame, GError **error);

/* As given; borrowed. */
const LodeStackDistancesOptions *lode_stack_distances_options(const LodeStackDistances *self);

/* Uses of lines. */
uint64_t lode_stack_distances_n_accesses(const LodeStackDistances *self);
uint64_t lode_stack_distances_n_lines(const LodeStackDistances *self); /* = first accesses */

/* The histogram: how many accesses had distance d, d from 0 to n−1; borrowed until the next call.
 */
const uint64_t *lode_stack_distances_histogram(LodeStackDistances *self, size_t *out_n);

/* By thread: the same for the uses by one thread of lines that all use, for threads up to the
 * highest that was replayed. The sums over all threads are the values above. */
typedef struct {
	uint64_t n_accesses, n_first; /* first: of lines that none had used */
	const uint64_t *histogram;    /* × n; borrowed until more is replayed */
	size_t n;
} LodeThreadDistances;

unsigned lode_stack_distances_n_threads(const LodeStackDistances *self);
LodeThreadDistances lode_stack_distances_thread(LodeStackDistances *self, unsigned thread);
