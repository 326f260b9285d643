/* SPDX-License-Identifier: MIT */
/*
 * What samples weigh, by column: those that have a row, those that have none, by the reason, and
 * those that are left out. Private to ingest/sampled/.
 */
#pragma once

#include "process/places.h"
#include "sources/recording.h"

/* Samples that are left out of all shares. */
typedef struct {
	double n;
	double *weights; /* of each column */
} LodeLeftOutSamples;

typedef struct {
	double *n_samples;          /* of each column */
	double *sums, *squares;     /* likewise: of the weights of these */
	LodeLeftOutSamples stepped; /* in windows, which caused them */
	LodeLeftOutSamples own;     /* of lode's own libraries in the program */
	double counts[LODE_PLACE_N_OUTCOMES];
	double *weights[LODE_PLACE_N_OUTCOMES]; /* of each column */
	char *examples[LODE_PLACE_N_OUTCOMES];
} LodeSampledTotals;

/* For so many columns. */
void lode_sampled_totals_init(LodeSampledTotals *self, guint n_columns);
void lode_sampled_totals_clear(LodeSampledTotals *self);

/* Adds a sample's value. */
void lode_sampled_totals_add(LodeSampledTotals *self, uint32_t column, double value);

/* Likewise of a sample without a row. */
void lode_sampled_totals_add_unplaced(
	LodeSampledTotals *self, LodePlaceOutcome outcome, const LodePerfRecord *record);

/* Says how many samples the column that weighs has. */
void lode_sampled_totals_finish(const LodeSampledTotals *self, LodeRecording *recording);

/* Adds what has no row to the recording as unresolved. */
void lode_sampled_totals_account(const LodeSampledTotals *self, LodeRecording *recording);
