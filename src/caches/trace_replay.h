/* SPDX-License-Identifier: MIT */
/*
 * A whole trace through caches and stack distances, in one pass:
 *
 *   frame ──▶ slices ──▶ cache simulation (its own workers), stack distances (one each)
 *
 * Slices are short, so that progress is shown often, and the user can stop it.
 */
#pragma once

#include "base/progress.h"
#include "caches/cache_simulation.h"
#include "caches/stacks/miss_curve.h"
#include "caches/stacks/stack_distances.h"
#include "traces/trace_reader.h"

typedef struct LodeReplayTimes LodeReplayTimes;

typedef struct {
	const LodeHierarchy *const *hierarchies; /* borrowed as long as the result lives */
	size_t n_hierarchies;                    /* 0: stack distances only */
	const LodeStackDistancesOptions *distances;
	size_t n_distances;
	bool classifies;  /* misses by why */
	uint64_t quantum; /* instructions after which threads take turns; 0: as recorded */
	unsigned threads; /* 0: all processors */
	unsigned n_times; /* stretches for misses over time; 0: none */
} LodeTraceReplayOptions;

typedef struct {
	LodeCacheSimulation *simulation; /* NULL: no hierarchy */
	GPtrArray *curves;               /* LodeMissCurve, as the distances */
	GPtrArray *thread_curves;        /* likewise, of each by thread, those of all threads */
	LodeReplayTimes *times;          /* NULL: not requested */
	uint64_t n_references, n_instructions; /* that were replayed, without a warm-up */
	uint64_t n_windows;                    /* of a range with `every`, that were replayed */
	LodeTraceRange range;                  /* the requested range */
	char *damage; /* why these are not all: the fault of the file; NULL: they are */
} LodeTraceReplay;

/* The options' pointers are borrowed as long as the result lives. Errors: _LIMIT (memory). */
LodeTraceReplay *lode_trace_replay_new(
	const LodeTraceReplayOptions *options, const LodeTraceRange *range, GError **error);

/* The next frame of the range, which lies in one part of it. Its warm-up goes through the caches,
 * not through stack distances, and is not counted. Errors: _LIMIT, _CANCELLED; after one, only
 * free() is allowed. */
bool lode_trace_replay_take(LodeTraceReplay *self, const LodeTraceFrame *frame,
	const LodeProgress *progress, GError **error);

/* Whether one hierarchy gets all references in their order, and nothing else gets any. */
bool lode_trace_replay_may_take_words(
	const LodeTraceReplayOptions *options, const LodeTraceRange *range);

/* All words of one thread in place of a frame, see lode_cache_simulation_replay_words(). False:
 * they have to come in frames; nothing is done. */
bool lode_trace_replay_take_words(LodeTraceReplay *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, LodeWordsTaken *taken);

/* How a program's words may be filtered before, see lode_cache_simulation_word_filter(). */
bool lode_trace_replay_word_filter(const LodeTraceReplay *self, LodeWordFilterGeometry *out);

/* After the last one: curves are there, and what the caches held is let go of. */
void lode_trace_replay_finish(LodeTraceReplay *self);

/* All of it, of what a reader that was just opened reads, as far as the file is whole. Errors: as
 * above; damage is not one. */
LodeTraceReplay *lode_trace_replay_run(LodeTraceReader *reader,
	const LodeTraceReplayOptions *options, const LodeProgress *progress, GError **error);

/* With fewer windows their variance is not known well enough. */
enum { LODE_TRACE_REPLAY_MIN_WINDOWS = 10 };

/* The range of the miss ratio of all references, by a sample of them. */
typedef struct {
	double low, high;   /* NAN: not known, for too few windows, or without accesses */
	double cold_misses; /* in sets not yet full, after references that were left out */
} LodeMissRatioRange;

/* Only with a sample. Where each window had all references before it as its warm-up, low and high
 * are a 95 % interval; else `low` is the lower end of one in which cold misses are hits, and `high`
 * the upper end of one in which they are misses. */
LodeMissRatioRange lode_trace_replay_ratio_range(
	const LodeTraceReplay *self, size_t hierarchy, size_t cache);
void lode_trace_replay_free(LodeTraceReplay *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceReplay, lode_trace_replay_free)
