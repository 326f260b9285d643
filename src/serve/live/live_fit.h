/* SPDX-License-Identifier: MIT */
/*
 * The findings of a recording that is still being written, again and again while somebody looks:
 * perf.data can be read at any time, as its header says how far the records go. A thread of
 * lower priority imports and fits, at most a tenth of the time.
 */
#pragma once

#include "ingest/import.h"
#include "views/live/live_findings.h"

typedef struct LodeLiveFit LodeLiveFit;

/* Takes over the findings of what was sampled so far, in the fit's thread. */
typedef void (*LodeLiveFitTake)(LodeLiveFindings *findings, void *user_data);

/* `import`: how the recording will be imported in the end; its paths and threads are not taken. All
 * but `recording` lives on. */
LodeLiveFit *lode_live_fit_open(const char *recording, const LodeImportOptions *import,
	LodeLiveFitTake take, void *user_data);

/* Stops what is being done, and waits for it. NULL is allowed. */
void lode_live_fit_close(LodeLiveFit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveFit, lode_live_fit_close)

/* The recording is there, and somebody looks, for the next seconds. From any thread. */
void lode_live_fit_request(LodeLiveFit *self);
