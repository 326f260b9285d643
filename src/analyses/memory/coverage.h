/* SPDX-License-Identifier: MIT */
/*
 * The share of the samples that have a data address, by rule, and a name, by layer. Weights of
 * different events mean different things, so each event is counted alone.
 */
#pragma once

#include "analyses/memory/access_totals.h"
#include "model/memory.h"

typedef struct LodeProfile LodeProfile;

typedef struct {
	uint32_t event;
	LodeAccessTotals total;
	LodeAccessTotals resolved;             /* with an address */
	LodeAccessTotals unverified;           /* of those, that indirect jumps leave in doubt */
	LodeAccessTotals named[LODE_N_LAYERS]; /* by the first layer that answered, be it without
	                                          an address */
	LodeAccessTotals known[LODE_N_LAYERS]; /* the layer answered, also after another one */
	LodeAccessTotals members;              /* down to a member of a type */
	LodeAccessTotals unnamed; /* no object: no address and nothing known of it, or an address in
	                             nothing known */
	LodeAccessTotals by_rule[LODE_N_RULES];     /* NONE: no address */
	LodeAccessTotals by_reason[LODE_N_REASONS]; /* NONE: with an address */
} LodeMemoryCoverage;

/* GArray of LodeMemoryCoverage, one for each event that has samples, by its number; the caller
 * unrefs it. `samples` are numbers, ascending; NULL: all of the profile's, which has memory. Page
 * faults are left out unless there is nothing else. */
GArray *lode_memory_coverage_new(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples);
