/* SPDX-License-Identifier: MIT */
/* Figures of simulated caches that every view shows. */
#pragma once

#include "base/number_format.h"
#include "views/cache_results.h"

/* A cache of a hierarchy with its counts: a row of every view. */
typedef struct {
	size_t hierarchy;
	const LodeCache *cache;
	const LodeCacheCounts *counts;
	char *description; /* "32K:8:64" as in the text of the hierarchy */
} LodeCacheRow;

/* GArray of LodeCacheRow, hierarchy by hierarchy; the caller owns it. Borrows the results. */
GArray *lode_cache_rows_new(const LodeCacheResults *results);

uint64_t lode_cache_accesses(const LodeCacheCounts *counts);
uint64_t lode_cache_misses(const LodeCacheCounts *counts);

/* Of all accesses, 0 … 1; 0 without any. */
double lode_cache_miss_ratio(const LodeCacheCounts *counts);

/* "1.234 %"; writes into `buffer` and returns it. */
char *lode_cache_ratio_text(double ratio, char buffer[LODE_NUMBER_SIZE]);

/* For 1000 instructions; NAN without any. */
double lode_cache_misses_per_1000(const LodeCacheCounts *counts, uint64_t n_instructions);

/* "compulsory", "capacity" …, as JSON and CSV have them. */
extern const char *const lode_cache_class_names[LODE_N_MISS_CLASSES];
