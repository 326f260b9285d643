/* SPDX-License-Identifier: MIT */
/*
 * The lines that one cache holds: tags and replacement, without a word on why they are looked up.
 *
 *   set    state of the policy | line of way 0 | line of way 1 | …       64-bit words
 *   set    line used last | line used before it | …                      LRU of few ways
 *   line   (number + 1) << 3 | LODE_LINE_… ; 0: none
 *
 * Private to caches/.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"
#include "caches/sets/line_map.h"

typedef struct LodeReplacementPolicy LodeReplacementPolicy;

enum {
	LODE_LINE_DIRTY = 1,
	LODE_LINE_PREFETCHED = 2, /* and not used yet */
	LODE_LINE_OWNED = 4,      /* no other core holds it */
	LODE_LINE_FLAGS = 7,
};

typedef struct {
	uint64_t *words; /* sets, within `memory` */
	void *memory;
	size_t set_words, n_state_words; /* of a set; the former with its lines */
	size_t n_bytes;
	uint64_t set_mask, random;
	unsigned n_ways;
	bool is_by_age; /* lines stand by their last use; an LRU of few ways */
	bool has_places;
	const LodeReplacementPolicy *policy; /* NULL: by age */
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

/* Ways up to which it is cheaper to move lines than to note their order. */
enum { LODE_CACHE_SETS_MAX_BY_AGE = 16 };

static inline bool lode_cache_sets_is_by_age(const LodeCache *cache)
{
	return cache->replacement == LODE_REPLACEMENT_LRU &&
	       cache->n_ways <= LODE_CACHE_SETS_MAX_BY_AGE;
}

static inline uint64_t lode_line_entry(uint64_t line)
{
	return (line + 1) << 3;
}

static inline uint64_t *lode_cache_sets_at(const LodeCacheSets *self, uint64_t line)
{
	return &self->words[(line & self->set_mask) * self->set_words];
}

/* The entry of the line; NULL: it is not held. Changes nothing. Valid until a line of the set is
 * touched, comes or goes. */
uint64_t *lode_cache_sets_find(const LodeCacheSets *self, uint64_t line);

/* Whether the set of a line is not full; a set too wide to be searched counts as such. */
bool lode_cache_sets_has_room(const LodeCacheSets *self, uint64_t line);

/* The entry of the line, as above; it was used. */
uint64_t *lode_cache_sets_touch(LodeCacheSets *self, uint64_t line);

/* The same where sets are by age. */
static inline uint64_t *lode_cache_sets_touch_by_age(LodeCacheSets *self, uint64_t line)
{
	uint64_t *lines = lode_cache_sets_at(self, line), entry = lode_line_entry(line), found;
	unsigned n_ways = self->n_ways, age = 0;

	while (age < n_ways && (lines[age] ^ entry) > LODE_LINE_FLAGS)
		age++;
	if (age == n_ways)
		return NULL;
	for (found = lines[age]; age > 0; age--)
		lines[age] = lines[age - 1];
	lines[0] = found;
	return lines;
}

/* Uses a line where sets are by age, and brings it in if it is not held: false then, and
 * `out_victim` is as below. Its entry is the first of its set after that. */
static inline bool lode_cache_sets_use_by_age(
	LodeCacheSets *self, uint64_t line, uint64_t *out_victim)
{
	uint64_t *lines = lode_cache_sets_at(self, line), entry = lode_line_entry(line);
	uint64_t here = lines[0];
	unsigned n_ways = self->n_ways, age = 0;

	while ((here ^ entry) > LODE_LINE_FLAGS) {
		if (++age == n_ways) {
			lines[0] = entry;
			*out_victim = here;
			return false;
		}
		uint64_t next = lines[age];
		lines[age] = here;
		here = next;
	}
	lines[0] = here;
	return true;
}

/* Brings in a line that is not held. `out_victim` is what went, as it stood there; 0: nothing. */
uint64_t *lode_cache_sets_fill(LodeCacheSets *self, uint64_t line, uint64_t *out_victim);

/* Takes the line of an entry out. */
void lode_cache_sets_remove(LodeCacheSets *self, uint64_t *entry);
