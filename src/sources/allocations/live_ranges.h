/* SPDX-License-Identifier: MIT */
/*
 * The current ranges of memory, while ranges are put over each other: where two overlap, the newer
 * one counts, and the uncovered parts of the older one stay.
 *
 *   put A        |AAAAAAAAAAAA|
 *   put B            |BBB|
 *   now          |AAA|BBB|AAAA|      and A as it was has ended
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint64_t start, end; /* addresses [start, end); never empty */
	uint64_t origin;     /* where the owner's first byte lies, or lay before it was cut */
	uint64_t since;      /* whatever the user counts time in */
	uint32_t owner;
} LodeLiveRange;

typedef struct LodeLiveRanges LodeLiveRanges;

LodeLiveRanges *lode_live_ranges_new(void);
void lode_live_ranges_free(LodeLiveRanges *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveRanges, lode_live_ranges_free)

/*
 * Puts a range over the existing ones. Ranges that it overlaps are appended to `ended`
 * (LodeLiveRange; NULL: not wanted) as they were; their rests begin anew with the same `since` as
 * the new one.
 */
void lode_live_ranges_put(LodeLiveRanges *self, const LodeLiveRange *range, GArray *ended);

/* Takes away what the owner has in [start, end), each range whole, and appends it to `ended`. */
void lode_live_ranges_remove(
	LodeLiveRanges *self, uint64_t start, uint64_t end, uint32_t owner, GArray *ended);

/* The range that holds an address, or NULL. Valid until the next change. */
const LodeLiveRange *lode_live_ranges_find(const LodeLiveRanges *self, uint64_t address);

/* The first range that reaches into [start, end), or NULL. Likewise. */
const LodeLiveRange *lode_live_ranges_find_in(
	const LodeLiveRanges *self, uint64_t start, uint64_t end);

/* Appends all ranges to `out` (LodeLiveRange), by address. */
void lode_live_ranges_list(const LodeLiveRanges *self, GArray *out);
