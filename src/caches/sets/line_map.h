/* SPDX-License-Identifier: MIT */
/*
 * A hash table from line numbers to 64 bits, 16 bytes a place and at most three quarters full: on
 * the path of every reference that is classified, where a GHashTable is too slow and too large.
 */
#pragma once

#include "caches/sets/cache_budget.h"

#include <glib.h>
#include <stdint.h>

typedef struct {
	uint64_t key; /* line + 1; 0: free */
	uint64_t value;
} LodeLineMapPlace;

typedef struct {
	LodeLineMapPlace *places;
	size_t mask, n;
	LodeCacheBudget *budget;
} LodeLineMap;

/* False where the budget is spent. `n_expected` saves growing; it may be 0. */
bool lode_line_map_init(LodeLineMap *self, size_t n_expected, LodeCacheBudget *budget);
void lode_line_map_clear(LodeLineMap *self);

/* The value of a line; NULL: not in the map. Valid until the next change. */
uint64_t *lode_line_map_find(const LodeLineMap *self, uint64_t line);

/* Likewise, 0 and added where it is not in the map; NULL where the budget is spent. */
uint64_t *lode_line_map_find_or_add(LodeLineMap *self, uint64_t line);

void lode_line_map_remove(LodeLineMap *self, uint64_t line);
