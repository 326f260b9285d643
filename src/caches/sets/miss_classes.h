/* SPDX-License-Identifier: MIT */
/*
 * Why lines miss in one copy of a cache: which lines it ever saw, and what a fully associative LRU
 * cache of as many lines would hold beside it; of several cores, which lines other cores' stores
 * took away.
 *
 * Sources: M. Hill, "Aspects of cache memory and instruction buffer performance", Berkeley
 * UCB/CSD 87/381, 1987 (three classes); M. Dubois, J. Skeppstedt, L. Ricciulli, K. Ramamurthy,
 * P. Stenström, "The detection and elimination of useless misses in multiprocessors", ISCA 1993
 * (true and false sharing; here in the simpler form that docs/reference/caches.md defines).
 */
#pragma once

#include "caches/cache_simulation.h"
#include "caches/sets/line_map.h"

typedef struct LodeMissClasses LodeMissClasses;

/* NULL where the budget is spent; it is borrowed. */
LodeMissClasses *lode_miss_classes_new(uint64_t n_lines, LodeCacheBudget *budget);
void lode_miss_classes_free(LodeMissClasses *self);

/*
 * A demand access to a line: the class that it is of if it misses. `bytes` are those that it
 * needs, `brings_in` is whether the line comes in where it misses.
 */
LodeMissClass lode_miss_classes_access(
	LodeMissClasses *self, uint64_t line, uint64_t bytes, bool brings_in);

/* Another core's store of these bytes took the line away, or would have if it still were there;
 * later stores count only where an earlier one took it. */
void lode_miss_classes_lose(LodeMissClasses *self, uint64_t line, uint64_t bytes, bool was_held);

/* The line is back. */
void lode_miss_classes_regain(LodeMissClasses *self, uint64_t line);
