/* SPDX-License-Identifier: MIT */
/*
 * LRU caches that differ in nothing but their ways, all in one pass: each set is a stack, the line
 * used last on top, and a cache of n ways holds the upper n lines of each.
 *
 *   depth   0   1   2   3   4 …       a use of the line at depth 2 misses in caches of 1 and 2
 *   line    c   a   d   b             ways, hits in all others, and puts the line on top
 *
 * Source: R. Mattson, J. Gecsei, D. Slutz, I. Traiger, "Evaluation techniques for storage
 * hierarchies", IBM Systems Journal 9(2), 1970 (inclusion). Each written line notes the least
 * number of ways with which it is still dirty: caches of fewer ways have written it back since.
 *
 * Caches that write back and allocate, without a prefetcher and for one core. Private to caches/.
 */
#pragma once

#include "caches/cache_simulation.h"
#include "caches/sets/cache_budget.h"

enum { LODE_SET_STACKS_MAX_WAYS = 64 };

typedef struct {
	uint64_t accesses[LODE_N_REFERENCE_KINDS];
	/* by the depth at which the line was found; the last: deeper, or nowhere */
	uint64_t depths[LODE_N_REFERENCE_KINDS][LODE_SET_STACKS_MAX_WAYS + 1];
	/* differences: caches of n ways had as many as all up to n add up to */
	int64_t cold_misses[LODE_SET_STACKS_MAX_WAYS + 2];
	int64_t write_backs[LODE_SET_STACKS_MAX_WAYS + 2];
} LodeSetStacksCounts;

typedef struct {
	LodeSetStacksCounts counts;
	uint64_t *lines;     /* number + 1, by depth, set by set; 0: none */
	uint8_t *dirty_from; /* beside them: ways; CLEAN: not dirty */
	uint64_t set_mask;
	size_t n_bytes;
	unsigned n_ways; /* of the largest */
	uint8_t line_shift, holds;
	LodeCacheBudget *budget;
} LodeSetStacks;

typedef struct {
	LodeReferenceKind kind;
	uint64_t first, last;
	bool marks_dirty, is_cold;
} LodeSetStacksAccess;

/* Whether a cache is of that kind. */
bool lode_set_stacks_supports(const LodeCache *cache, uint32_t n_cores);

/* `cache` is the one of most ways. False where the budget is spent; to be cleared all the same. */
bool lode_set_stacks_init(LodeSetStacks *self, const LodeCache *cache, LodeCacheBudget *budget);
void lode_set_stacks_clear(LodeSetStacks *self);

/* Removes all lines; counts stay. */
void lode_set_stacks_empty(LodeSetStacks *self);

/* A reference to bytes [first, last], which is not counted as an access. `marks_dirty`: the write
 * of it ends here; `is_cold`: its miss before was a cold one. Kinds that the caches do not hold are
 * ignored. */
void lode_set_stacks_access(LodeSetStacks *self, const LodeSetStacksAccess *access);

/* Bytes [first, last] come from a cache before it: what holds them is dirty. Not a use. */
void lode_set_stacks_write(LodeSetStacks *self, uint64_t first, uint64_t last);

/* Counts the write-backs since the lines were used; before counts are read or set. */
void lode_set_stacks_settle(LodeSetStacks *self);

/* The counts of the cache of so many ways, after settling. */
void lode_set_stacks_read(const LodeSetStacks *self, unsigned n_ways, LodeCacheCounts *out_counts);
