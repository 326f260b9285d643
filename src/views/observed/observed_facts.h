/* SPDX-License-Identifier: MIT */
/* Facts of an instruction that windows observed, beside its code. Private to views/. */
#pragma once

#include "base/text/json_stream.h"
#include "model/observed/windows.h"

typedef struct LodeProfile LodeProfile;

/*
 * Appends "taken 37 % (observed, 412), unforetold in 9 %, stride 64 in 92 %"; of a branch that
 * windows hardly saw "taken 37 % (inferred)", by the profile's edges. Nothing where nothing is
 * known. The profile has windows. Gives whether any of it was observed.
 */
bool lode_observed_facts_append(const LodeProfile *profile, uint32_t instruction, GString *out);

/* "observed": an object with all that is known; null: it was not in windows. `instruction` may be
 * LODE_NONE. */
void lode_observed_facts_json(
	const LodeProfile *profile, uint32_t instruction, LodeJsonStream *json);

/* A row of lode_observed_columns, for profiles with windows. */
typedef struct {
	LodeObservedInstruction facts;
	uint64_t followed;
	double taken, taken_by_edges; /* no number: not a branch, or not known */
	bool is_observed;
} LodeObservedCells;

/* `instruction` may be LODE_NONE. */
LodeObservedCells lode_observed_cells(const LodeProfile *profile, uint32_t instruction);
