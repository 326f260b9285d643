/* SPDX-License-Identifier: MIT */
/*
 * Events whose counts samples carry (perf record -e '{a,b}:S'). A counter goes on from sample to
 * sample, so that its count since the previous sample belongs to this one:
 *
 *   sample of a    a 1000 b 7       a 2000 b 7       a 3001 b 12
 *   a              1000             1000             1001
 *   b              7                0                5
 *
 * Private to ingest/sampled/.
 */
#pragma once

#include "base/arrays/id_cache.h"
#include "sources/perf_data/perf_data.h"

typedef struct {
	LodeIdCache ids;      /* counter, thread → index */
	GArray *last;         /* uint64_t of each */
	GArray *counts;       /* LodePerfCount, of the sample at hand */
	uint64_t n_left_out;  /* counts of events that the recording does not describe */
	uint64_t n_untracked; /* counts of counters for which there was no room */
} LodeSampledCounts;

/* For one recording. */
void lode_sampled_counts_init(LodeSampledCounts *self);
void lode_sampled_counts_clear(LodeSampledCounts *self);

/*
 * The counts of a sample, by event: LodePerfCount whose value is the count of its event since the
 * last sample, never 0; `event` is the sample's. Valid until the next call. The caller calls it for
 * each sample of the recording in the file's order. NULL: the sample has a period instead of
 * counts.
 */
const GArray *lode_sampled_counts_take(LodeSampledCounts *self, LodePerfData *data,
	const LodePerfEvent *event, const LodePerfRecord *record);

/* The event at whose samples `event` is counted, both by index; itself where it is sampled. */
size_t lode_sampled_counts_leader(const LodePerfEvent *events, size_t event);
