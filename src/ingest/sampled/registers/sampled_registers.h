/* SPDX-License-Identifier: MIT */
/*
 * What the registers of a timer's samples tell: the outcomes of the next branches, and with those
 * of another sample how many iterations lie between the two, in its function and in its callers.
 * Private to ingest/sampled/.
 */
#pragma once

#include "ingest/sampled/registers/sample_pairs.h"
#include "ingest/sampled/registers/sampled_outcomes.h"
#include "process/access_resolver.h"

typedef struct {
	LodePlaces *places; /* borrowed, as the pairs */
	LodeSamplePairs *pairs;
	LodeSampledOutcomes *outcomes;
	GArray *frames; /* LodeCallerFrame, of the sample at hand */
} LodeSampledRegisters;

void lode_sampled_registers_init(
	LodeSampledRegisters *self, LodePlaces *places, LodeSamplePairs *pairs);
void lode_sampled_registers_clear(LodeSampledRegisters *self);

/* Adds a sample, which is skipped if a register is not known. */
void lode_sampled_registers_add(
	LodeSampledRegisters *self, const LodeSampledCode *sampled, const LodePairClock *clock);
