/* SPDX-License-Identifier: MIT */
/*
 * The row of a run-time address, and whether it is lode's own work in the program that was sampled
 * there. Private to ingest/sampled/.
 */
#pragma once

#include "process/call_chain.h"

typedef struct LodeSampledRows LodeSampledRows;

enum { LODE_ROW_OF_RECORDER = LODE_NONE - 1 }; /* of a library that lode put into the program */

typedef struct {
	LodePlaces *places; /* borrowed, as the rows */
	LodeSampledRows *rows;
	struct LodeKnownRow *known; /* by a hash of the address */
} LodeRowSearch;

void lode_row_search_init(LodeRowSearch *self, LodePlaces *places, LodeSampledRows *rows);
void lode_row_search_clear(LodeRowSearch *self);

/* Begins the recording that the places have selected. */
void lode_row_search_begin(LodeRowSearch *self);

/* The row of an address of a process then, added when new; LODE_NONE: it was left out.
 * `out_row` is set where the place is found. */
LodePlaceOutcome lode_row_search_find(
	LodeRowSearch *self, uint32_t pid, uint64_t time_ns, uint64_t address, uint32_t *out_row);

/* Whether a sample, whose place is that of the row, is of the recorder's work in the program: its
 * libraries, or the clock that they read. */
bool lode_row_search_is_of_recorder(const LodeRowSearch *self, uint32_t row,
	const LodePerfRecord *record, const LodePerfEvent *event, uint64_t time_ns);
