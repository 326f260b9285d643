/* SPDX-License-Identifier: MIT */
/*
 * The data that each instruction accessed, by the samples that are charged to it: for code with its
 * data beside it, as perf annotate --data-type and Oracle's Performance Analyzer show it.
 *
 *   instruction ── samples, loads, stores ── objects, heaviest first
 *              └── from the lowest to the highest address
 */
#pragma once

#include "analyses/memory/access_totals.h"

#include <glib.h>
#include <stdbool.h>

typedef struct LodeProfile LodeProfile;

typedef struct {
	uint32_t object; /* LODE_NONE: at an address, without a name; without one, objects are known
	                    by the base of the address */
	double weight;
} LodeInstructionObject;

typedef struct {
	uint32_t instruction;
	LodeAccessTotals totals;
	double unresolved_weight;         /* of samples without an address */
	uint64_t least, most;             /* bytes accessed; least above most: no address */
	uint32_t first_object, n_objects; /* of those whose object is known */
} LodeInstructionDatum;

typedef struct {
	GArray *rows;                /* LodeInstructionDatum, by instruction */
	GArray *objects;             /* LodeInstructionObject, of a row heaviest first */
	LodeAccessTotals *functions; /* of all samples of each function */
	double *unresolved;          /* weight without an address, of each function */
	bool is_of_windows; /* samples are of accesses in windows, as there are no others */
} LodeInstructionData;

/* Made of all samples except page faults, and accesses in windows where there are others; of a
 * trace's misses, those of one event. The profile has memory. Never NULL. */
LodeInstructionData *lode_instruction_data_new(const LodeProfile *profile);
void lode_instruction_data_free(LodeInstructionData *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeInstructionData, lode_instruction_data_free)

/* Borrowed; NULL: no sample is charged to it. */
const LodeInstructionDatum *lode_instruction_data_find(
	const LodeInstructionData *self, uint32_t instruction);
