/* SPDX-License-Identifier: MIT */
/* Which known workloads a recording is in each slice of its time, so that phases show. */
#pragma once

#include "analyses/signatures/classification.h"
#include "ingest/time_slices.h"

/*
 * `path` is a perf.data file, `slices` GArray of LodeTimeSlice. Gives GPtrArray of
 * LodeClassification, one for each slice and NULL where there are too few samples; the caller
 * unrefs it. Errors: those of lode_import() and lode_classify().
 */
GPtrArray *lode_classify_slices(const char *path, const GArray *slices, const GPtrArray *signatures,
	const LodeProgress *progress, GError **error);
