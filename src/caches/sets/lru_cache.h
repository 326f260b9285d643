/* SPDX-License-Identifier: MIT */
/*
 * A cache that replaces the least recently used line, and nothing else, for the plugin that counts
 * in QEMU: what lode_cache_simulation does with a cache that is described with no options, at the
 * least cost for the use of a line that was used last in its set. Plain C without any library.
 *
 *   recent   the line that was used last, of each set       number + 1; 0: none
 *   lines    set: line used before it | line before that | …
 *
 * The most recent lines have an array of their own, so that most uses read little memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t n_sets; /* a power of two, as line_bytes is */
	uint32_t n_ways, line_bytes;
} LodeLruShape;

typedef struct {
	uint64_t *recent; /* owned, n_sets */
	uint64_t *lines;  /* owned, n_sets × n_others */
	uint64_t set_mask;
	uint32_t n_others; /* ways but one */
	uint32_t line_shift;
} LodeLruCache;

/* False: out of memory, or a cache of that shape cannot be simulated. */
bool lode_lru_cache_init(LodeLruCache *self, const LodeLruShape *shape);
void lode_lru_cache_clear(LodeLruCache *self);

/* Reads "SETS:WAYS:LINE", up to a '+' or the end, after which `text` stands then. */
bool lode_lru_shape_parse(const char **text, LodeLruShape *out_shape);

/* Whether it was used last in its set, so that using it changes nothing. */
static inline bool lode_lru_cache_is_last(const LodeLruCache *self, uint64_t line)
{
	return self->recent[line & self->set_mask] == line + 1;
}

/* Has the processor fetch the set of an address, for its use soon. */
static inline void lode_lru_cache_prefetch(const LodeLruCache *self, uint64_t address)
{
	enum { ENTRIES_OF_LINE = 8 };
	uint64_t set = address >> self->line_shift & self->set_mask;

	__builtin_prefetch(&self->recent[set], 1);
	for (uint32_t i = 0; i < self->n_others; i += ENTRIES_OF_LINE)
		__builtin_prefetch(&self->lines[set * self->n_others + i], 1);
}

/* Uses a line, which is brought in when it is not held; whether it was. */
static inline bool lode_lru_cache_use(LodeLruCache *self, uint64_t line)
{
	uint64_t set = line & self->set_mask, entry = line + 1, before = self->recent[set];
	uint64_t *others = &self->lines[set * self->n_others];

	if (before == entry)
		return true;
	self->recent[set] = entry;
	for (uint32_t i = 0; i < self->n_others; i++) {
		uint64_t here = others[i];
		others[i] = before;
		if (here == entry)
			return true;
		before = here;
	}
	return false;
}

/* The same of a line that is held; else nothing is changed. */
static inline bool lode_lru_cache_use_held(LodeLruCache *self, uint64_t line)
{
	uint64_t set = line & self->set_mask, entry = line + 1;
	uint64_t *others = &self->lines[set * self->n_others];
	uint32_t i = 0;

	if (self->recent[set] == entry)
		return true;
	while (i < self->n_others && others[i] != entry)
		i++;
	if (i == self->n_others)
		return false;
	for (; i > 0; i--)
		others[i] = others[i - 1];
	others[0] = self->recent[set];
	self->recent[set] = entry;
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
