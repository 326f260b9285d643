/* SPDX-License-Identifier: MIT */
#include "caches/stacks/set_stacks.h"

#include "base/arrays/large_array.h"

#include <string.h>

enum { CLEAN = UINT8_MAX };

bool lode_set_stacks_supports(const LodeCache *cache, uint32_t n_cores)
{
	return n_cores == 1 && cache->replacement == LODE_REPLACEMENT_LRU &&
	       cache->prefetch == LODE_PREFETCH_NONE && !cache->is_write_through &&
	       !cache->is_no_allocate && cache->n_ways <= LODE_SET_STACKS_MAX_WAYS;
}

bool lode_set_stacks_init(LodeSetStacks *self, const LodeCache *cache, LodeCacheBudget *budget)
{
	size_t n_lines = cache->n_sets * cache->n_ways;

	*self = (LodeSetStacks){
		.set_mask = cache->n_sets - 1,
		.n_bytes = n_lines * (sizeof(uint64_t) + sizeof(uint8_t)),
		.n_ways = cache->n_ways,
		.line_shift = (uint8_t)g_bit_storage(cache->line_bytes - 1),
		.holds = cache->holds,
		.budget = budget,
	};
	if (!lode_cache_budget_take(budget, self->n_bytes))
		return false;
	self->lines = g_try_malloc0(self->n_bytes);
	if (self->lines == NULL) {
		lode_cache_budget_refuse(budget, self->n_bytes);
		return false;
	}
	lode_large_array_advise(self->lines, self->n_bytes);
	self->dirty_from = (uint8_t *)(self->lines + n_lines);
	return true;
}

void lode_set_stacks_clear(LodeSetStacks *self)
{
	if (self->lines != NULL)
		lode_cache_budget_give_back(self->budget, self->n_bytes);
	g_free(self->lines);
	*self = (LodeSetStacks){0};
}

void lode_set_stacks_empty(LodeSetStacks *self)
{
	lode_set_stacks_settle(self);
	memset(self->lines, 0, self->n_bytes);
}

static inline bool holds(const LodeSetStacks *self, LodeReferenceKind kind)
{
	return (self->holds & (kind == LODE_REFERENCE_FETCH ? LODE_CACHE_INSTRUCTIONS
							    : LODE_CACHE_DATA)) != 0;
}

/* A line is at a depth: caches of as many ways or fewer do not hold it any more, and have written
 * it back where it was dirty. Gives from how many ways on it still is. */
static inline uint8_t settle(LodeSetStacks *self, uint8_t dirty_from, unsigned depth)
{
	if (dirty_from > depth)
		return dirty_from;
	self->counts.write_backs[dirty_from]++;
	self->counts.write_backs[depth + 1]--;
	return (uint8_t)(depth + 1);
}

static inline unsigned depth_of(const LodeSetStacks *self, const uint64_t *lines, uint64_t line)
{
	unsigned depth = 0;

	while (depth < self->n_ways && lines[depth] != line + 1)
		depth++;
	return depth;
}

/* Puts the line on top. Gives the depth at which it was; n_ways: it was not there. Raises
 * `n_full` to the ways of the largest cache that had no room in the set when it missed. */
static unsigned use_line(LodeSetStacks *self, uint64_t line, bool marks_dirty, unsigned *n_full)
{
	size_t set = (line & self->set_mask) * self->n_ways;
	uint64_t *lines = self->lines + set;
	uint8_t *dirty = self->dirty_from + set, dirty_from = CLEAN;
	unsigned depth = depth_of(self, lines, line);
	unsigned n_moved = MIN(depth, self->n_ways - 1), n_held = depth;

	if (lines[n_moved] != 0)
		dirty_from = settle(self, dirty[n_moved], depth);
	else
		for (n_held = 0; lines[n_held] != 0;)
			n_held++;
	*n_full = MAX(*n_full, n_held);
	if (depth == self->n_ways)
		dirty_from = CLEAN;
	memmove(lines + 1, lines, n_moved * sizeof(*lines));
	memmove(dirty + 1, dirty, n_moved);
	lines[0] = line + 1;
	dirty[0] = marks_dirty ? 1 : dirty_from;
	return depth;
}

void lode_set_stacks_access(LodeSetStacks *self, const LodeSetStacksAccess *access)
{
	unsigned deepest = 0, n_full = 0;

	if (!holds(self, access->kind))
		return;
	for (uint64_t line = access->first >> self->line_shift;; line++) {
		unsigned depth = use_line(self, line, access->marks_dirty, &n_full);

		deepest = MAX(deepest, depth);
		if (line == access->last >> self->line_shift)
			break;
	}
	self->counts.cold_misses[(access->is_cold ? 0 : n_full) + 1]++;
	self->counts.cold_misses[deepest + 1]--;
	/* that of the largest may be a lesser one than the array has room for */
	self->counts.depths[access->kind]
			   [deepest == self->n_ways ? LODE_SET_STACKS_MAX_WAYS : deepest]++;
}

void lode_set_stacks_write(LodeSetStacks *self, uint64_t first, uint64_t last)
{
	for (uint64_t line = first >> self->line_shift;; line++) {
		size_t set = (line & self->set_mask) * self->n_ways;
		unsigned depth = depth_of(self, self->lines + set, line);

		if (depth < self->n_ways) {
			uint8_t *dirty = &self->dirty_from[set + depth];

			settle(self, *dirty, depth);
			*dirty = (uint8_t)(depth + 1);
		}
		if (line == last >> self->line_shift)
			break;
	}
}

void lode_set_stacks_settle(LodeSetStacks *self)
{
	size_t n_lines = (self->set_mask + 1) * self->n_ways;

	for (size_t i = 0; i < n_lines; i++)
		if (self->lines[i] != 0)
			self->dirty_from[i] = settle(
				self, self->dirty_from[i], (unsigned)(i % self->n_ways));
}

void lode_set_stacks_read(const LodeSetStacks *self, unsigned n_ways, LodeCacheCounts *out_counts)
{
	const LodeSetStacksCounts *counts = &self->counts;
	int64_t write_backs = 0, cold_misses = 0;

	*out_counts = (LodeCacheCounts){0};
	for (unsigned kind = 0; kind < LODE_N_REFERENCE_KINDS; kind++) {
		if (!holds(self, kind))
			continue;
		out_counts->accesses[kind] = counts->accesses[kind];
		for (unsigned depth = n_ways; depth <= LODE_SET_STACKS_MAX_WAYS; depth++)
			out_counts->misses[kind] += counts->depths[kind][depth];
	}
	for (unsigned i = 0; i <= n_ways; i++) {
		write_backs += counts->write_backs[i];
		cold_misses += counts->cold_misses[i];
	}
	out_counts->write_backs = (uint64_t)write_backs;
	out_counts->cold_misses = (uint64_t)cold_misses;
}
