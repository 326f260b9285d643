/* SPDX-License-Identifier: MIT */
/* The events of an address trace, as columns of a recording. Private to ingest/traced/. */
#pragma once

#include "caches/branch_predictor.h"
#include "caches/cache_simulation.h"
#include "ingest/traced/traced_counts.h"
#include "process/images/code_images.h"
#include "sources/recording.h"

#include <glib.h>

typedef struct LodeTracedBranches LodeTracedBranches;

/*
 * The events of an address trace: references by kind, and misses of the caches that it is replayed
 * through, as columns of a recording and under the names that measured misses have.
 */

/* The sum of all data references. */
#define LODE_TRACED_ACCESSES "accesses"

typedef struct {
	/* The column of each cache and kind of reference; LODE_NONE: none. */
	uint32_t columns[LODE_HIERARCHY_MAX_CACHES][LODE_N_REFERENCE_KINDS];
	/* For each cache, the sum in recording->sums of its misses of data. */
	uint32_t sums[LODE_HIERARCHY_MAX_CACHES];
	/* For each class of misses of data in the first level, a column and a sum; LODE_NONE: they
	 * are not classified. */
	uint32_t class_columns[LODE_N_MISS_CLASSES], class_sums[LODE_N_MISS_CLASSES];
} LodeTracedMisses;

/* Names the columns and sums; `hierarchy` NULL: there are no caches. */
void lode_traced_misses_init(LodeTracedMisses *self, LodeRecording *recording,
	const LodeHierarchy *hierarchy, bool classifies);

/*
 * The branches of an address trace, through a predictor: which instructions are branches is decoded
 * from the images of the code, where they went is in the trace.
 */

typedef struct {
	LodeBranchModel model;
	uint32_t n_cores; /* thread t is on core t mod n; 0: each on its own */
} LodeTracedBranchesOptions;

/* Shared by all traces. */
typedef struct {
	LodeTracedBranchesOptions options;
	LodeRecording *recording; /* borrowed, as the images */
	LodeCodeImages *images;
	uint32_t columns[2][2]; /* conditional, indirect × executed, wrong */
	double n_unknown;       /* executions in code of which no image is known… */
	char *unknown;          /* …in this object, as an example; NULL */
} LodeTracedBranchSums;

/* Adds its columns and their sum to the recording; before lode_traced_rows_init(). */
void lode_traced_branch_sums_init(LodeTracedBranchSums *self,
	const LodeTracedBranchesOptions *options, LodeRecording *recording, LodeCodeImages *images);
void lode_traced_branch_sums_clear(LodeTracedBranchSums *self);

/* Accounts for code of which no image is known. */
void lode_traced_branch_sums_finish(LodeTracedBranchSums *self);

/* For one trace, whose cores begin with empty predictors. Borrows both. */

LodeTracedBranches *lode_traced_branches_new(
	LodeTracedBranchSums *sums, LodeTracedCounts *counts, const LodeTracedRows *rows);
void lode_traced_branches_free(LodeTracedBranches *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTracedBranches, lode_traced_branches_free)

/* A frame that was just added to the counts. Errors: _LIMIT (memory). */
bool lode_traced_branches_add(
	LodeTracedBranches *self, const LodeTraceFrame *frame, GError **error);
