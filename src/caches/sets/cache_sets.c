/* SPDX-License-Identifier: MIT */
/* Sets of few ways are searched, those of many have a hash table beside them. */
#include "caches/sets/cache_sets.h"

#include "base/arrays/hash.h"
#include "base/arrays/large_array.h"

#include <string.h>

enum { MAX_SEARCHED_WAYS = 32, ALIGNMENT = 64 };

/* Sets of the usual ways lie in lines of this machine, too. */
static void *aligned(void *memory)
{
	return (char *)memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
}

bool lode_cache_sets_init(
	LodeCacheSets *self, const LodeCache *cache, uint64_t seed, LodeCacheBudget *budget)
{
	bool is_by_age = lode_cache_sets_is_by_age(cache);
	const LodeReplacementPolicy *policy =
		is_by_age ? NULL : lode_replacement_policy(cache->replacement, cache->n_ways);
	size_t n_state_words = is_by_age ? 0 : policy->n_words(cache->n_ways);

	*self = (LodeCacheSets){
		.n_state_words = n_state_words,
		.set_words = n_state_words + cache->n_ways,
		.set_mask = cache->n_sets - 1,
		.random = seed * LODE_HASH_MULTIPLIER,
		.n_ways = cache->n_ways,
		.is_by_age = is_by_age,
		.has_places = cache->n_ways > MAX_SEARCHED_WAYS,
		.policy = policy,
		.budget = budget,
	};
	/* the generator never leaves zero */
	if (self->random == 0)
		self->random = 1;
	self->n_bytes = cache->n_sets * self->set_words * sizeof(uint64_t) + ALIGNMENT;
	if (!lode_cache_budget_take(budget, self->n_bytes))
		return false;
	self->memory = g_try_malloc0(self->n_bytes);
	if (self->memory == NULL) {
		lode_cache_budget_refuse(budget, self->n_bytes);
		return false;
	}
	lode_large_array_advise(self->memory, self->n_bytes);
	self->words = aligned(self->memory);
	for (size_t i = 0; policy != NULL && policy->reset != NULL && i < cache->n_sets; i++)
		policy->reset(&self->words[i * self->set_words], self->n_ways);
	return !self->has_places ||
	       lode_line_map_init(&self->places, cache->n_sets * cache->n_ways, budget);
}

void lode_cache_sets_clear(LodeCacheSets *self)
{
	if (self->memory != NULL)
		lode_cache_budget_give_back(self->budget, self->n_bytes);
	g_free(self->memory);
	lode_line_map_clear(&self->places);
	*self = (LodeCacheSets){0};
}

static uint64_t *find_in(const LodeCacheSets *self, uint64_t *set, uint64_t line)
{
	uint64_t *lines = set + self->n_state_words, key = lode_line_entry(line);
	const uint64_t *way;

	if (self->has_places) {
		way = lode_line_map_find(&self->places, line);
		return way != NULL ? &lines[*way] : NULL;
	}
	for (unsigned i = 0; i < self->n_ways; i++) {
		if ((lines[i] ^ key) <= LODE_LINE_FLAGS)
			return &lines[i];
	}
	return NULL;
}

bool lode_cache_sets_has_room(const LodeCacheSets *self, uint64_t line)
{
	const uint64_t *lines = lode_cache_sets_at(self, line) + self->n_state_words;

	for (unsigned i = 0; !self->has_places && i < self->n_ways; i++)
		if (lines[i] == 0)
			return true;
	return self->has_places;
}

uint64_t *lode_cache_sets_find(const LodeCacheSets *self, uint64_t line)
{
	return find_in(self, lode_cache_sets_at(self, line), line);
}

uint64_t *lode_cache_sets_touch(LodeCacheSets *self, uint64_t line)
{
	uint64_t *set, *entry;

	if (self->is_by_age)
		return lode_cache_sets_touch_by_age(self, line);
	set = lode_cache_sets_at(self, line);
	entry = find_in(self, set, line);
	if (entry != NULL)
		self->policy->touch(
			set, self->n_ways, (unsigned)((size_t)(entry - set) - self->n_state_words));
	return entry;
}

static uint64_t *fill_by_age(LodeCacheSets *self, uint64_t line, uint64_t *out_victim)
{
	uint64_t *lines = lode_cache_sets_at(self, line);
	unsigned oldest = self->n_ways - 1;

	*out_victim = lines[oldest];
	memmove(&lines[1], &lines[0], oldest * sizeof(uint64_t));
	lines[0] = lode_line_entry(line);
	return lines;
}

static void note_place(LodeCacheSets *self, uint64_t line, unsigned way, uint64_t victim)
{
	uint64_t *place;

	if (victim != 0)
		lode_line_map_remove(&self->places, lode_line_number(victim));
	/* never grows: it was made for all lines */
	place = lode_line_map_find_or_add(&self->places, line);
	*place = way;
}

uint64_t *lode_cache_sets_fill(LodeCacheSets *self, uint64_t line, uint64_t *out_victim)
{
	uint64_t *set, *lines;
	unsigned way;

	if (self->is_by_age)
		return fill_by_age(self, line, out_victim);
	set = lode_cache_sets_at(self, line);
	lines = set + self->n_state_words;
	way = self->policy->choose(set, self->n_ways, lines, &self->random);
	*out_victim = lines[way];
	lines[way] = lode_line_entry(line);
	self->policy->fill(set, self->n_ways, way);
	if (self->has_places)
		note_place(self, line, way, *out_victim);
	return &lines[way];
}

void lode_cache_sets_remove(LodeCacheSets *self, uint64_t *entry)
{
	uint64_t line = lode_line_number(*entry);
	uint64_t *set = lode_cache_sets_at(self, line);
	size_t way = (size_t)(entry - set) - self->n_state_words;

	if (self->is_by_age) {
		memmove(entry, entry + 1, (self->n_ways - way - 1) * sizeof(uint64_t));
		set[self->n_ways - 1] = 0;
		return;
	}
	if (self->has_places)
		lode_line_map_remove(&self->places, line);
	*entry = 0;
	self->policy->empty(set, self->n_ways, (unsigned)way);
}
