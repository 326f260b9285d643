/* SPDX-License-Identifier: MIT */
/* The summary of a placement made of a profile: where threads and pages go, and the share of
 * accesses that becomes local. */
#pragma once

#include "analyses/memory/placement/placement_proposal.h"
#include "views/form/format.h"

typedef struct LodeProfile LodeProfile;

typedef struct {
	LodeViewFormat format;
	LodeTerminal terminal;
	const char *profile_path; /* may be NULL */
	const char *output_path;  /* where the placement was written; NULL: nowhere */
} LodePlacementSummaryOptions;

/*
 * Writes to `out`. CSV has the columns section,name,value,share,detail: sections memory (pages,
 * share of accesses by its threads, the threads), policy (weight of local accesses, share) and
 * note. Errors: _IO.
 */
bool lode_placement_summary_write(const LodeProfile *profile, const LodePlacementProposal *proposal,
	const LodePlacementSummaryOptions *options, FILE *out, GError **error);

/* The same in few words, for the head of the placement file; the caller frees it. */
char *lode_placement_summary_comment(
	const LodeProfile *profile, const LodePlacementProposal *proposal);
