/* SPDX-License-Identifier: MIT */
/*
 * perf.data → a recording: each sample is laid at the instruction where it was taken.
 *
 *   mappings, execs, forks ──first pass──▶ address spaces over time
 *   samples ──second pass──▶ (pid, time, ip) ─▶ (image, address in it) ─▶ one row for each place
 *   branch stacks ──▶ taken branches, and the ranges that ran between them
 *   windows ──▶ the steps between two instructions; samples in them are left out
 *
 * A row's values are the sum of the samples' periods, so that they are estimates of the event's
 * count (nanoseconds for cpu-clock). Private to ingest/.
 */
#pragma once

#include "base/progress.h"
#include "ingest/sampled/sampled_stacks.h"
#include "sources/recording.h"

typedef struct LodeSampledWaits LodeSampledWaits;
typedef struct LodeSamplePairs LodeSamplePairs;
typedef struct LodeMemoryReading LodeMemoryReading;
typedef struct LodeWindowReading LodeWindowReading;

/*
 * Reads the files in order into one recording, whose frequency is sampled when there are branch
 * stacks and inferred (to be inferred) when not. The data that the samples accessed is added to
 * `memory`, the call stacks to `stacks`, looks at threads that wait to `waits`, samples whose
 * distance in time is known to `pairs`. Samples of programs that were not chosen
 * (sampled_programs.h: `only`, `is_alone`) are left out. Errors name the file; _NOT_FOUND: none is
 * left.
 */
typedef struct {
	const char *const *paths;
	size_t n_paths;
	LodeMemoryReading *memory; /* its places are those of the recordings, none begun yet */
	LodeSampledStacks *stacks;
	LodeSampledWaits *waits;
	LodeSamplePairs *pairs;
	LodeWindowReading *windows; /* likewise; what it needs of the recordings is added */
	const char *const *only;    /* NULL: all */
	bool is_alone;
	bool is_native;            /* looks at scripts are not used */
	uint64_t begin_ns, end_ns; /* only samples of that time; end 0: all */
} LodeSampledRecordingOptions;

LodeRecording *lode_sampled_recording_read(
	const LodeSampledRecordingOptions *options, const LodeProgress *progress, GError **error);
