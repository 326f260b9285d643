/* SPDX-License-Identifier: MIT */
/*
 * Moments in time that are marked, counted from any of them on: a bit for each moment, and counts
 * of the bits in groups, groups of groups and so on.
 *
 *   level 1                 9                      4
 *   level 0     3   0   2   …   1          2   …
 *   bits      0110…                 now ─▶
 *
 * Marking and unmarking adds to one count a level; counting adds up to FAN_OUT − 1 counts a level,
 * and few when the moment is recent.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { LODE_RECENCY_MAX_LEVELS = 6 };

typedef struct {
	uint64_t *words;
	uint32_t *counts[LODE_RECENCY_MAX_LEVELS]; /* of level 0: of each word */
	unsigned n_levels;
	uint32_t capacity; /* moments, a power of two */
	uint32_t now;      /* moments so far */
	uint32_t n_marked;
} LodeRecencyTree;

enum {
	LODE_RECENCY_MIN_CAPACITY = 1 << 14,
	LODE_RECENCY_MAX_CAPACITY = 1 << 28,
};

/* Nothing marked, room for `capacity` moments: a power of two within the bounds above. */
void lode_recency_tree_init(LodeRecencyTree *self, uint32_t capacity);
void lode_recency_tree_clear(LodeRecencyTree *self);

/* Whether there is no moment left: begin another tree with the marked ones. */
static inline bool lode_recency_tree_is_full(const LodeRecencyTree *self)
{
	return self->now == self->capacity;
}

/* Marks the next moment and gives its number. Must not be full. */
uint32_t lode_recency_tree_mark(LodeRecencyTree *self);

/* Unmarks a marked moment. */
void lode_recency_tree_unmark(LodeRecencyTree *self, uint32_t moment);

/* How many moments after this one are marked. */
uint32_t lode_recency_tree_count_after(const LodeRecencyTree *self, uint32_t moment);
