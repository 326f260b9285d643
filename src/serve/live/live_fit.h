/* SPDX-License-Identifier: MIT */
/*
 * The findings of a recording in progress, fitted repeatedly while a client requests them:
 * perf.data can be read at any time, as its header has the size of the records so far. A thread of
 * lower priority imports and fits, at most a tenth of the time.
 */
#pragma once

#include "ingest/import.h"
#include "views/live/live_findings.h"

typedef struct LodeLiveFit LodeLiveFit;

/* Takes over the findings of the samples so far, in the fit's thread. */
typedef void (*LodeLiveFitTake)(LodeLiveFindings *findings, void *user_data);

/* `import`: the options of the final import; its paths and threads are ignored. All but `recording`
 * must outlive it. */
LodeLiveFit *lode_live_fit_open(const char *recording, const LodeImportOptions *import,
	LodeLiveFitTake take, void *user_data);

/* Cancels a running fit, and waits for it. NULL is allowed. */
void lode_live_fit_close(LodeLiveFit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveFit, lode_live_fit_close)

/* The recording exists and a client wants findings during the next seconds. From any thread. */
void lode_live_fit_request(LodeLiveFit *self);
