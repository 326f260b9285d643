/* SPDX-License-Identifier: MIT */
/* Sums of samples and branches by place, while they are read. Private to ingest/sampled/. */
#pragma once

#include "base/arrays/id_cache.h"
#include "model/index.h"
#include "process/places.h"

/* A column that was added while samples were read. */
typedef struct {
	uint32_t row, column;
	double value;
} LodeSampledLaterValue;

typedef struct LodeSampledRows {
	LodeRecording *recording; /* borrowed, as the images */
	const LodeCodeImages *images;
	LodeIdCache rows, branches, ranges, newest;
	GArray *places;        /* LodePlace of each row */
	GArray *values;        /* double × rows × columns */
	GArray *later;         /* LodeSampledLaterValue */
	GArray *newest_ranges; /* NewestRange: branch targets whose range the sample cut off */
	uint32_t n_columns;
	uint32_t max_spans; /* distinct branches, and ranges; 2²⁴ unless a test says less */
	bool is_full;       /* something was left out: there are too many */
	uint64_t n_broken;  /* ranges of branch stacks */
} LodeSampledRows;

/* For the recording's present events; values of those that are added later are few. */
void lode_sampled_rows_init(
	LodeSampledRows *self, LodeRecording *recording, const LodeCodeImages *images);
void lode_sampled_rows_clear(LodeSampledRows *self);

/* The row of a place, added when new; LODE_NONE: it was left out, see is_full. */
uint32_t lode_sampled_rows_find(LodeSampledRows *self, const LodePlace *place);

static inline void lode_sampled_rows_add(
	LodeSampledRows *self, uint32_t row, uint32_t column, double value)
{
	const LodeSampledLaterValue later = {row, column, value};

	if (row != LODE_NONE && column >= self->n_columns)
		g_array_append_val(self->later, later);
	else if (row != LODE_NONE)
		g_array_index(
			self->values, double, (size_t)row * self->n_columns + column) += value;
}

/* A taken branch; counts once. */
void lode_sampled_rows_add_branch(
	LodeSampledRows *self, const LodePlace *source, const LodePlace *target);

/* Adds the code that ran between two branches: from the older one's target to the newer one's
 * source; NULL for an end whose place is unknown. Broken when these cannot belong together; then it
 * is only counted. */
void lode_sampled_rows_add_range(
	LodeSampledRows *self, const LodePlace *first, const LodePlace *last);

/* Adds the code that ran since the newest branch; its end is not recorded. */
void lode_sampled_rows_add_newest(LodeSampledRows *self, const LodePlace *first);

/*
 * Sorts everything into the recording. A newest range is taken to end where ranges that begin at
 * the same place did, in their proportion. Broken and unknown ranges are accounted for. Fails with
 * _LIMIT when there were too many of anything, or there is no memory to sort them.
 */
bool lode_sampled_rows_finish(LodeSampledRows *self, GError **error);
