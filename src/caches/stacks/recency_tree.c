/* SPDX-License-Identifier: MIT */
/* Marked moments in time, counted. */
#include "caches/stacks/recency_tree.h"

#include "base/bits.h"

enum {
	WORD_BITS = 64,
	WORD_SHIFT = 6,
	FAN_OUT = 16,
	FAN_OUT_SHIFT = 4,
};

void lode_recency_tree_init(LodeRecencyTree *self, uint32_t capacity)
{
	uint32_t n = capacity >> WORD_SHIFT;

	g_assert(capacity >= LODE_RECENCY_MIN_CAPACITY && capacity <= LODE_RECENCY_MAX_CAPACITY);
	*self = (LodeRecencyTree){.capacity = capacity};
	self->words = g_new0(uint64_t, n);
	while (n > 1) {
		self->counts[self->n_levels++] = g_new0(uint32_t, n);
		n = (n + FAN_OUT - 1) >> FAN_OUT_SHIFT;
	}
}

void lode_recency_tree_clear(LodeRecencyTree *self)
{
	g_free(self->words);
	for (unsigned level = 0; level < self->n_levels; level++)
		g_free(self->counts[level]);
	*self = (LodeRecencyTree){0};
}

static void add(LodeRecencyTree *self, uint32_t moment, uint32_t n)
{
	uint32_t at = moment >> WORD_SHIFT;

	self->words[at] ^= LODE_BIT(moment % WORD_BITS);
	self->n_marked += n;
	for (unsigned level = 0; level < self->n_levels; level++, at >>= FAN_OUT_SHIFT)
		self->counts[level][at] += n;
}

uint32_t lode_recency_tree_mark(LodeRecencyTree *self)
{
	add(self, self->now, 1);
	return self->now++;
}

void lode_recency_tree_unmark(LodeRecencyTree *self, uint32_t moment)
{
	add(self, moment, UINT32_MAX);
}

uint32_t lode_recency_tree_count_after(const LodeRecencyTree *self, uint32_t moment)
{
	uint32_t at = moment >> WORD_SHIFT, last = (self->now - 1) >> WORD_SHIFT;
	uint32_t n = (uint32_t)__builtin_popcountll(self->words[at] >> moment % WORD_BITS >> 1);

	for (unsigned level = 0; level < self->n_levels && at < last; level++) {
		const uint32_t *counts = self->counts[level];
		uint32_t end = MIN(at | (FAN_OUT - 1), last);

		for (uint32_t i = at + 1; i <= end; i++)
			n += counts[i];
		at >>= FAN_OUT_SHIFT;
		last >>= FAN_OUT_SHIFT;
	}
	return n;
}
