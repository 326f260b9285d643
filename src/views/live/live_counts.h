/* SPDX-License-Identifier: MIT */
/*
 * The counts of a live picture: accesses by (thread, address ÷ unit).
 *
 * It differs from LodeAddressHistogram in that it may run for days: when the cells become too many
 * the unit doubles and neighbours become one, so that memory and the time to draw stay bounded; it
 * gives cells in no order, as only some of them are drawn; and a cell has the object there and the
 * function that accesses it most (by majority vote: exact where one has more than half).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LODE_LIVE_MAX_CELLS = 65536, LODE_LIVE_FINEST_UNIT = 8 };

/* One access. The names live longer than the counts, and equal ones are one pointer. */
typedef struct {
	uint32_t thread; /* index into the threads */
	uint8_t access;  /* LODE_ACCESS_… bits */
	uint64_t address;
	double weight;
	const char *mapping, *object, *function; /* NULL: unknown */
} LodeLiveAccess;

typedef struct {
	uint64_t address; /* of its first byte, a multiple of the unit */
	uint32_t thread;
	uint32_t votes; /* for `function` */
	uint32_t object_votes;
	uint64_t n_loads, n_stores;
	double weight;
	const char *mapping, *object, *function;
} LodeLiveCell;

typedef struct LodeLiveCounts {
	GHashTable *cells; /* LodeLiveCell *, a set */
	uint64_t unit;     /* bytes, a power of two */
	size_t max_cells;
} LodeLiveCounts;

/* `max_cells` 0: LODE_LIVE_MAX_CELLS. */
LodeLiveCounts *lode_live_counts_new(size_t max_cells);
LodeLiveCounts *lode_live_counts_copy(const LodeLiveCounts *self);
void lode_live_counts_free(LodeLiveCounts *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveCounts, lode_live_counts_free)

void lode_live_counts_add(LodeLiveCounts *self, const LodeLiveAccess *access);

/* Empties, and goes back to the finest unit. */
void lode_live_counts_reset(LodeLiveCounts *self);

/* Adds the vote of some for a function to a vote that stands; Boyer and Moore's. */
void lode_live_vote(
	const char **function, uint32_t *votes, const char *other, uint32_t other_votes);
