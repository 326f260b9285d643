/* SPDX-License-Identifier: MIT */
/* The columns that groups of memory samples have in every view. */
#pragma once

#include "analyses/memory/access_totals.h"
#include "views/form/listing.h"
#include "views/memory/memory_notes.h"

typedef struct {
	LodeAccessTotals totals;
	double share;        /* of all weight */
	double mean_latency; /* no number: not recorded */
} LodeTotalsCells;

/*
 * The columns of a row whose member is LodeTotalsCells. `place`: that of the first in text, 0:
 * none; `drop`: of the samples, and one more for each after them; `weight_style`, `style`: where
 * the row has that of the weight and of the others, 0: nowhere.
 */
#define LODE_TOTALS_COLUMNS(type, member, place, drop, weight_style, style)                        \
	{"samples", LODE_CELL_COUNT(type, member.totals.n_samples), LODE_TOTALS_AT(place, 1),      \
		.dropped = (drop), .styled = (style)},                                             \
		{"loads", LODE_CELL_COUNT(type, member.totals.n_loads), LODE_TOTALS_AT(place, 2),  \
			.dropped = (drop) + 1, .styled = (style)},                                 \
		{"stores", LODE_CELL_COUNT(type, member.totals.n_stores),                          \
			LODE_TOTALS_AT(place, 3), .dropped = (drop) + 2, .styled = (style)},       \
		{"weight", LODE_CELL_NUMBER(type, member.totals.weight)},                          \
		{"share", LODE_CELL_SHARE(type, member.share), .title = "weight", .at = (place),   \
			.styled = (weight_style)},                                                 \
	{                                                                                          \
		"mean_latency", LODE_CELL_COUNT(type, member.mean_latency),                        \
			.title = "latency", .is_nullable = true, LODE_TOTALS_AT(place, 4),         \
			.dropped = (drop) + 3, .styled = (style), .hides_empty = true              \
	}
#define LODE_TOTALS_AT(place, n) .at = (place) > 0 ? (place) + (n) : 0

/* `whole` is the weight that shares are of. */
LodeTotalsCells lode_totals_cells(const LodeAccessTotals *totals, double whole);

/* The same columns as members of an open object of JSON. */
void lode_totals_put(const LodeAccessTotals *totals, double whole, LodeJsonStream *json);

/* The name of the weight: the names of the events, "page faults" where there is nothing else,
 * "none". */
const char *lode_totals_weight_text(const LodeMemoryNotes *notes);
