/* SPDX-License-Identifier: MIT */
/* A placement for people, and in the form of other tools. */
#pragma once

#include "analyses/memory/placement/placement_proposal.h"
#include "machine/topology.h"
#include "model/placement.h"
#include "views/form/format.h"

#include <stdio.h>

typedef struct LodeProfile LodeProfile;

/* The summary of a placement made of a profile: where threads and pages go, and the share of
 * accesses that becomes local. */

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

/* A placement in the form of other tools. Parts that they cannot express are written as comments.
 */

/*
 * `form`: "numactl" (a shell script that runs a program), "hwloc" (one that binds the threads of a
 * running process), "c" (source text to be compiled into a program, with libnuma). Errors: _USAGE
 * for another form, or more memories than the topology has; _IO.
 */
bool lode_placement_export(const LodePlacement *placement, const LodeTopology *topology,
	const char *form, FILE *out, GError **error);
