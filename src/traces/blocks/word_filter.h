/* SPDX-License-Identifier: MIT */
/*
 * Leaves words out of a thread's stream that change nothing in the caches that they are for: only
 * the number of references by kind is kept of them (LODE_WORD_COUNT). An access to the line that
 * was used last in its set stays a hit and changes no order, whatever the ways of an LRU cache, if
 * the line is dirty already or it does not write; a fetch likewise (T. R. Puzak, "Analysis of Cache
 * Replacement Algorithms", 1985: trace stripping). Plain C, for the plugin in QEMU too.
 *
 *   code 17  load  store  │ code 18  load │ code 17  load  store
 *   ──────── kept ────────┼─── kept ──────┼── in lines used last: counted; the store to a new
 *                         │               │   line stays
 *
 * A group whose code is not in the lines used last stays whole, since the later levels see its
 * fetches and accesses in their order.
 */
#pragma once

#include "traces/blocks/code_words.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* The first level that words are for; lines of 1 << shift bytes, sets by the lowest bits. */
typedef struct {
	uint8_t has_filter;
	uint8_t data_shift, code_shift;
	uint32_t data_mask, code_mask; /* sets − 1 */
} LodeWordFilterGeometry;

/* With more sets, several share a place: the line used last of them all is the last of its own. */
enum { LODE_WORD_FILTER_SETS = 256 }; /* a power of two */

typedef struct {
	LodeWordFilterGeometry caches;
	uint64_t code_state;                  /* another number after each change of `code` */
	uint64_t data[LODE_WORD_FILTER_SETS]; /* the line used last × 2, + 1 if it is dirty */
	uint64_t code[LODE_WORD_FILTER_SETS]; /* likewise, never dirty */
} LodeWordFilter;

/* A piece of code as the filter needs it. */
typedef struct {
	uint64_t first_line, last_line;
	_Atomic uint64_t
		known_state; /* in which all of its lines were used last; threads share it */
} LodeWordFilterPiece;

/* The states that follow `state` must be of this filter alone, among those that use the same
 * pieces. */
static inline void lode_word_filter_init(
	LodeWordFilter *self, const LodeWordFilterGeometry *caches, uint64_t state)
{
	self->caches = *caches;
	self->caches.data_mask &= LODE_WORD_FILTER_SETS - 1;
	self->caches.code_mask &= LODE_WORD_FILTER_SETS - 1;
	self->code_state = state;
}

/* No line was used. */
static inline void lode_word_filter_reset(LodeWordFilter *self)
{
	memset(self->data, 0xff, sizeof(self->data));
	memset(self->code, 0xff, sizeof(self->code));
	self->code_state++;
}

static inline bool lode_word_filter_fetch_lines(LodeWordFilter *self, LodeWordFilterPiece *piece)
{
	const uint32_t mask = self->caches.code_mask;
	bool is_same = true;

	for (uint64_t line = piece->first_line; line <= piece->last_line; line++) {
		is_same = is_same && self->code[line & mask] == line << 1;
		self->code[line & mask] = line << 1;
	}
	if (is_same)
		atomic_store_explicit(&piece->known_state, self->code_state, memory_order_relaxed);
	else
		self->code_state++;
	return is_same;
}

/* Uses the lines of a piece of code. True: this changes nothing. The first time after a reset it
 * does, so that what is left of a group never follows one of which not all was executed. */
static inline bool lode_word_filter_fetch(LodeWordFilter *self, LodeWordFilterPiece *piece)
{
	return atomic_load_explicit(&piece->known_state, memory_order_relaxed) ==
	               self->code_state ||
	       lode_word_filter_fetch_lines(self, piece);
}

__attribute__((noinline, cold)) static bool lode_word_filter_forget_data(LodeWordFilter *self)
{
	memset(self->data, 0xff, sizeof(self->data));
	return false;
}

/* Uses the lines of an access. True: this changes nothing. */
static inline bool lode_word_filter_access(
	LodeWordFilter *self, uint64_t address, uint64_t size, bool is_write)
{
	uint64_t line = address >> self->caches.data_shift;
	uint64_t *newest = &self->data[line & self->caches.data_mask];

	/* several lines, or no size */
	if (__builtin_expect((address + size - 1) >> self->caches.data_shift != line, 0))
		return lode_word_filter_forget_data(self);
	if ((*newest | !is_write) == (line << 1 | 1))
		return true;
	*newest = line << 1 | is_write;
	return false;
}
