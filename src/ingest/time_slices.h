/* SPDX-License-Identifier: MIT */
/* The time in which a recording has samples, in slices of equal length. */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>

typedef struct {
	uint64_t begin_ns, end_ns; /* [begin, end) by the recording's clock */
	uint64_t n_samples;
} LodeTimeSlice;

/*
 * `n` slices of a perf.data file, from its first sample to its last: GArray of LodeTimeSlice, for
 * LodeImportOptions.begin_ns and end_ns; the caller unrefs it. Errors: as lode_perf_data_open();
 * _NOT_FOUND (no sample, or none has a time).
 */
GArray *lode_time_slices_of(
	const char *path, unsigned n, const LodeProgress *progress, GError **error);
