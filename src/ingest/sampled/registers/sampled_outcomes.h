/* SPDX-License-Identifier: MIT */
/*
 * Which ways branches went, out of the registers of samples (images/data/branches_ahead.h): a
 * sample tells the outcome of the next branches, one execution at a random time each, and costs the
 * program nothing more. For the inference of executions, beside the steps of windows.
 *
 * Private to ingest/.
 */
#pragma once

#include "images/data/data_access.h"
#include "process/places.h"
#include "sources/recording.h"

typedef struct LodeSampledOutcomes LodeSampledOutcomes;

/* Borrows the places. */
LodeSampledOutcomes *lode_sampled_outcomes_new(LodePlaces *places);
void lode_sampled_outcomes_free(LodeSampledOutcomes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSampledOutcomes, lode_sampled_outcomes_free)

/* A sample of user code at a place; of the question, pc and bias are the place's. */
void lode_sampled_outcomes_add(
	LodeSampledOutcomes *self, const LodePlace *place, const LodeDataAccessQuestion *question);

/* Adds what was seen to the recording's steps. */
void lode_sampled_outcomes_finish(const LodeSampledOutcomes *self, LodeRecording *recording);
