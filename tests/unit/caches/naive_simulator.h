/* SPDX-License-Identifier: MIT */
/*
 * Caches as docs/reference/caches.md words them, in the plainest way: every reference is looked up,
 * sets are searched, dirt is spread byte by byte. The oracle of the simulator.
 */
#pragma once

#include "caches/cache_simulation.h"
#include "traces/reference.h"

typedef struct {
	LodeReference reference;
	uint64_t instruction; /* the address of the one that makes it; 0: none */
	LodeCacheMiss miss;   /* its place in the trace */
} NaiveReference;

/* What a miss is due to. */
typedef struct {
	LodeCacheStore store;
	uint64_t lost_line;  /* as of LodeCacheMiss */
	bool is_known;       /* false: it is not one of sharing in the first level of data */
	bool may_be_unknown; /* to a simulator that does not keep all */
} NaiveStoreNamed;

typedef struct NaiveSimulator NaiveSimulator;

NaiveSimulator *naive_simulator_new(const LodeHierarchy *hierarchy, bool classifies);
void naive_simulator_free(NaiveSimulator *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NaiveSimulator, naive_simulator_free)

void naive_simulator_access(NaiveSimulator *self, const NaiveReference *reference);

/* One for each cache of the hierarchy; borrowed. */
const LodeCacheCounts *naive_simulator_counts(const NaiveSimulator *self);

/* LodeCacheMiss, in the order in which they came; borrowed. */
const GArray *naive_simulator_misses(const NaiveSimulator *self);

/* NaiveStoreNamed, one for each of them; borrowed. */
const GArray *naive_simulator_stores(const NaiveSimulator *self);
