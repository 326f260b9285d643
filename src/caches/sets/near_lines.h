/* SPDX-License-Identifier: MIT */
/*
 * The most recently used lines, by age: what most references of a program find. Nothing moves when
 * the order changes, and no branch depends on it:
 *
 *   place   0     1     2     3          age: how many lines were used since
 *   line    a     b     c     d
 *   age     2     0     3     1    ── use c ──▶  3  1  0  2
 *
 * A small table by a line's hash says where it may be; a line that another one pushed out of that
 * table is here all the same, and the caller's own table must know its place.
 */
#pragma once

#include "base/arrays/hash.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	LODE_NEAR_LINES = 32,
	LODE_NEAR_LANES = 16,
	LODE_NEAR_TABLE_SHIFT = 54, /* leaves 10 bits of a hash */
};

typedef int8_t LodeNearAges __attribute__((vector_size(LODE_NEAR_LANES)));

typedef struct {
	LodeNearAges ages[LODE_NEAR_LINES / LODE_NEAR_LANES];
	uint64_t lines[LODE_NEAR_LINES];
	uint8_t table[1 << (64 - LODE_NEAR_TABLE_SHIFT)]; /* places */
	unsigned n;
} LodeNearLines;

/* A line number that no line has. */
#define LODE_NO_LINE UINT64_MAX

static inline void lode_near_lines_init(LodeNearLines *self)
{
	memset(self, 0, sizeof(*self));
	memset(self->ages, INT8_MAX, sizeof(self->ages));
	for (unsigned i = 0; i < LODE_NEAR_LINES; i++)
		self->lines[i] = LODE_NO_LINE;
}

static inline uint64_t lode_near_lines_hash(uint64_t line)
{
	return lode_hash_slot(line, 64);
}

static inline bool lode_near_lines_find(
	const LodeNearLines *self, uint64_t line, uint64_t hash, unsigned *out_place)
{
	*out_place = self->table[hash >> LODE_NEAR_TABLE_SHIFT];
	return self->lines[*out_place] == line;
}

/* Makes the line at a place the most recent one and gives the age that it had. */
static inline unsigned lode_near_lines_use(LodeNearLines *self, unsigned place)
{
	static const LodeNearAges lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	int8_t age = ((const int8_t *)self->ages)[place];

	for (unsigned i = 0; i < LODE_NEAR_LINES / LODE_NEAR_LANES; i++) {
		int8_t lane = (int8_t)(place - i * LODE_NEAR_LANES);
		LodeNearAges ages = self->ages[i];

		ages -= ages < age; /* true is −1 */
		self->ages[i] = ages & ~(lanes == lane);
	}
	return (unsigned)age;
}

/* Whether a line must leave before another one comes. */
static inline bool lode_near_lines_is_full(const LodeNearLines *self)
{
	return self->n == LODE_NEAR_LINES;
}

/* The place of the line that was used longest ago. Must be full. */
static inline unsigned lode_near_lines_oldest(const LodeNearLines *self)
{
	const int8_t *ages = (const int8_t *)self->ages;
	const int8_t *oldest = memchr(ages, LODE_NEAR_LINES - 1, LODE_NEAR_LINES);

	return (unsigned)(oldest - ages);
}

/* Puts a line at a place, the first free one or that of the oldest, and makes it the most recent
 * one. */
static inline void lode_near_lines_put(
	LodeNearLines *self, unsigned place, uint64_t line, uint64_t hash)
{
	self->lines[place] = line;
	self->table[hash >> LODE_NEAR_TABLE_SHIFT] = (uint8_t)place;
	lode_near_lines_use(self, place);
}
