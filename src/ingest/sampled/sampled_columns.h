/* SPDX-License-Identifier: MIT */
/* The columns of a recording of samples, one for each event. Private to ingest/sampled/. */
#pragma once

#include "sources/perf_data/perf_data.h"
#include "sources/recording.h"

enum { LODE_SAMPLED_MAX_COLUMNS = 1000 }; /* each is a column of the profile's store */

/* The column of a name; LODE_NONE: there is none. */
uint32_t lode_sampled_columns_find(const LodeRecording *recording, const char *name);

/* Finds the column of each event of a file, or adds it. False: there are too many. */
bool lode_sampled_columns_add(LodeRecording *recording, LodePerfData *data, uint32_t *out_columns);

/* Appends a column of samples. */
uint32_t lode_sampled_columns_append(
	LodeRecording *recording, const char *name, const char *description);

/* The period of a timer; 0: a different event, or not known. */
double lode_sampled_timer_period(const LodePerfEvent *event);
