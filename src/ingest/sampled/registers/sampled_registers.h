/* SPDX-License-Identifier: MIT */
/*
 * What the registers of a timer's samples tell: which ways the next branches went
 * (images/data/branches_ahead.h), one execution at a random time each, for the inference of
 * executions, beside the steps of windows; and with those of another sample how many iterations lie
 * between the two, in its function and in its callers. Private to ingest/sampled/.
 */
#pragma once

#include "base/arrays/id_cache.h"
#include "ingest/sampled/registers/sample_pairs.h"
#include "process/access_resolver.h"
#include "sources/recording.h"

typedef struct {
	LodePlaces *places; /* borrowed, as the pairs */
	LodeSamplePairs *pairs;
	GArray *ways;        /* Way, which way a branch went */
	LodeIdCache numbers; /* of ways */
	GArray *frames;      /* LodeCallerFrame, of the sample at hand */
} LodeSampledRegisters;

void lode_sampled_registers_init(
	LodeSampledRegisters *self, LodePlaces *places, LodeSamplePairs *pairs);
void lode_sampled_registers_clear(LodeSampledRegisters *self);

/* Adds a sample, which is skipped if a register is not known. */
void lode_sampled_registers_add(
	LodeSampledRegisters *self, const LodeSampledCode *sampled, const LodePairClock *clock);

/* Adds the outcomes of branches to the recording's steps. */
void lode_sampled_registers_finish(const LodeSampledRegisters *self, LodeRecording *recording);
