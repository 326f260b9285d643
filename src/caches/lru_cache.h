/* SPDX-License-Identifier: MIT */
/*
 * A cache that replaces the least recently used line, and nothing else, for the plugin that counts
 * in QEMU: what lode_cache_simulation does with a cache that is described with no options, at the
 * least cost for the use of a line that was used last in its set. Plain C without any library.
 *
 *   set    line used last | line used before it | …       number + 1; 0: none
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t n_sets; /* a power of two, as line_bytes is */
	uint32_t n_ways, line_bytes;
} LodeLruShape;

typedef struct {
	uint64_t *lines; /* owned */
	uint64_t set_mask;
	uint32_t n_ways, line_shift;
} LodeLruCache;

/* False: out of memory, or a cache of that shape cannot be simulated. */
bool lode_lru_cache_init(LodeLruCache *self, const LodeLruShape *shape);
void lode_lru_cache_clear(LodeLruCache *self);

/* Reads "SETS:WAYS:LINE", up to a '+' or the end, after which `text` stands then. */
bool lode_lru_shape_parse(const char **text, LodeLruShape *out_shape);

static inline uint64_t *lode_lru_cache_set(const LodeLruCache *self, uint64_t line)
{
	return &self->lines[(line & self->set_mask) * self->n_ways];
}

/* Whether it was used last in its set, so that using it changes nothing. */
static inline bool lode_lru_cache_is_last(const LodeLruCache *self, uint64_t line)
{
	return *lode_lru_cache_set(self, line) == line + 1;
}

/* Uses a line, which is brought in when it is not held; whether it was. */
static inline bool lode_lru_cache_use(LodeLruCache *self, uint64_t line)
{
	uint64_t *set = lode_lru_cache_set(self, line), entry = line + 1, before = set[0];

	if (before == entry)
		return true;
	for (uint32_t i = 1; i < self->n_ways; i++) {
		uint64_t here = set[i];
		set[i] = before;
		if (here == entry) {
			set[0] = entry;
			return true;
		}
		before = here;
	}
	set[0] = entry;
	return false;
}

/* The same of a line that is held; else nothing is changed. */
static inline bool lode_lru_cache_use_held(LodeLruCache *self, uint64_t line)
{
	uint64_t *set = lode_lru_cache_set(self, line), entry = line + 1;
	uint32_t way = 0;

	while (way < self->n_ways && set[way] != entry)
		way++;
	if (way == self->n_ways)
		return false;
	for (; way > 0; way--)
		set[way] = set[way - 1];
	set[0] = entry;
	return true;
}

/* Uses all lines of a reference, one after the other; whether all were held. `size` is not 0, and
 * the reference does not pass the end of the address space. */
static inline bool lode_lru_cache_refer(LodeLruCache *self, uint64_t address, uint64_t size)
{
	uint64_t line = address >> self->line_shift,
		 last = (address + size - 1) >> self->line_shift;
	bool is_held = lode_lru_cache_use(self, line);

	while (line < last)
		is_held &= lode_lru_cache_use(self, ++line);
	return is_held;
}
