/* SPDX-License-Identifier: MIT */
/*
 * Misses over time: what each stretch of a replay adds to the counts of caches, and to stack
 * distances. For a trace, the wanted number of stretches gives their length. For a program, whose
 * length is not known, stretches begin short, and whenever there are twice as many, each two become
 * one.
 */
#pragma once

#include "caches/cache_simulation.h"
#include "caches/stacks/miss_curve.h"

typedef struct {
	uint64_t first_reference, n_references, n_instructions;
} LodeReplayTime;

/* Uses of lines in a stretch, by their distance; misses in 2^i lines are those of bins above i, and
 * first uses. */
typedef struct {
	uint64_t n_accesses, n_first;
	uint64_t reuses[LODE_REUSE_MAX_BINS];
} LodeReplayReuses;

typedef struct LodeReplayTimes LodeReplayTimes;

typedef struct {
	unsigned n_times;                        /* how many are wanted */
	uint64_t n_references;                   /* of all of it; 0: not known */
	const LodeHierarchy *const *hierarchies; /* those of the simulation */
	size_t n_hierarchies, n_distances;
} LodeReplayTimesOptions;

/* The options' pointers are borrowed. */
LodeReplayTimes *lode_replay_times_new(const LodeReplayTimesOptions *options);
void lode_replay_times_free(LodeReplayTimes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeReplayTimes, lode_replay_times_free)

/* References until the stretch at hand ends. */
uint64_t lode_replay_times_left(const LodeReplayTimes *self);

/* A frame was replayed, and counted. `simulation` NULL: none. */
void lode_replay_times_add(LodeReplayTimes *self, const LodeTraceFrame *frame,
	const LodeCacheSimulation *simulation, LodeStackDistances *const *distances);

/* Ends the open stretch. */
void lode_replay_times_finish(LodeReplayTimes *self, const LodeCacheSimulation *simulation,
	LodeStackDistances *const *distances);

/* Stretches that have ended; what follows is of one of them, borrowed. */
guint lode_replay_times_n(const LodeReplayTimes *self);
const LodeReplayTime *lode_replay_times_at(const LodeReplayTimes *self, guint time);
const LodeCacheCounts *lode_replay_times_counts(
	const LodeReplayTimes *self, guint time, size_t hierarchy, size_t cache);
const LodeReplayReuses *lode_replay_times_reuses(
	const LodeReplayTimes *self, guint time, size_t distance);

/* The misses of a stretch in a cache of 2^bin lines. */
uint64_t lode_replay_reuses_misses(const LodeReplayReuses *self, unsigned bin);
