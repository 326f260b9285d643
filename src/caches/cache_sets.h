/* SPDX-License-Identifier: MIT */
/*
 * The lines that one cache holds: tags and replacement, without a word on why they are looked up.
 *
 *   set    state of the policy | line of way 0 | line of way 1 | …       64-bit words
 *   line   (number + 1) << 3 | LODE_LINE_… ; 0: none
 */
#pragma once

#include "caches/line_map.h"
#include "caches/replacement.h"

enum {
	LODE_LINE_DIRTY = 1,
	LODE_LINE_PREFETCHED = 2, /* and not used yet */
	LODE_LINE_OWNED = 4,      /* no other core holds it */
	LODE_LINE_FLAGS = 7,
};

typedef struct {
	uint64_t *words;
	size_t set_words, n_state_words; /* of a set; the former with its lines */
	size_t n_bytes;
	uint64_t set_mask, random;
	unsigned n_ways;
	bool is_lru_word, has_places;
	const LodeReplacementPolicy *policy;
	LodeLineMap places; /* line → way, where a set is too wide to be searched */
	LodeCacheBudget *budget;
} LodeCacheSets;

static inline uint64_t lode_line_number(uint64_t entry)
{
	return (entry >> 3) - 1;
}

/* False where the budget is spent; to be cleared all the same. `seed` is of random replacement. */
bool lode_cache_sets_init(
	LodeCacheSets *self, const LodeCache *cache, uint64_t seed, LodeCacheBudget *budget);
void lode_cache_sets_clear(LodeCacheSets *self);

/* Where the line stands; NULL: it is not held. Changes nothing. Valid until the next fill. */
uint64_t *lode_cache_sets_find(const LodeCacheSets *self, uint64_t line);

/* Likewise; it was used. */
uint64_t *lode_cache_sets_touch(LodeCacheSets *self, uint64_t line);

/* The same where `is_lru_word`, without a branch that depends on the way. */
static inline uint64_t *lode_cache_sets_touch_word(LodeCacheSets *self, uint64_t line)
{
	uint64_t *set = &self->words[(line & self->set_mask) * self->set_words];
	uint64_t *lines = set + 1, key = (line + 1) << 3;
	unsigned n_ways = self->n_ways, way = n_ways;

	for (unsigned i = 0; i < n_ways; i++)
		way = (lines[i] ^ key) <= LODE_LINE_FLAGS ? i : way;
	if (way == n_ways)
		return NULL;
	lode_way_order_touch(set, way);
	return &lines[way];
}

/* Brings in a line that is not held. `out_victim` is what went, as it stood there; 0: nothing. */
uint64_t *lode_cache_sets_fill(LodeCacheSets *self, uint64_t line, uint64_t *out_victim);

/* Takes out what stands there. */
void lode_cache_sets_remove(LodeCacheSets *self, uint64_t *entry);
