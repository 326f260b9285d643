/* SPDX-License-Identifier: MIT */
/*
 * The branches of an address trace, through a predictor: which instructions are branches is decoded
 * from the images of the code, where they went is in the trace. Private to ingest/traced/.
 */
#pragma once

#include "caches/branch_predictor.h"
#include "ingest/traced/traced_counts.h"
#include "process/code_images.h"

typedef struct LodeTracedBranches LodeTracedBranches;

typedef struct {
	LodeBranchModel model;
	uint32_t n_cores; /* thread t is on core t mod n; 0: each on its own */
} LodeTracedBranchesOptions;

/* Adds its columns and their sum to the recording; before lode_traced_counts_new(). Borrows both.
 */
LodeTracedBranches *lode_traced_branches_new(
	const LodeTracedBranchesOptions *options, LodeRecording *recording, LodeCodeImages *images);
void lode_traced_branches_free(LodeTracedBranches *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTracedBranches, lode_traced_branches_free)

/* A frame that was just added to the counts. Errors: _LIMIT (memory). */
bool lode_traced_branches_add(LodeTracedBranches *self, LodeTracedCounts *counts,
	const LodeTraceFrame *frame, GError **error);

/* Accounts for code of which no image is known. */
void lode_traced_branches_finish(LodeTracedBranches *self);
