/* SPDX-License-Identifier: MIT */
/*
 * The summary tree of a run (docs/mining.md §7): choose, sharpen, descend. What the first screen
 * shows: the costly sequences that do not repeat each other.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"

typedef enum {
	LODE_SUMMARY_BY_EXCESS,
	LODE_SUMMARY_BY_WEIGHT,
	LODE_SUMMARY_BY_FREQUENCY,
	LODE_SUMMARY_BY_MAXIMAL,
	LODE_SUMMARY_BY_DIFFERENTIAL,
} LodeSummaryOrder;

/*
 * How much is looked at: sequences of the highest value until they cover so many vertices together,
 * for the whole tree and below one line. What a sequence covers costs as much to find as it did to
 * mine, and what comes after so many that repeat each other is small.
 */
#define LODE_SUMMARY_WORK (UINT64_C(1) << 27)
#define LODE_SUMMARY_CHILD_WORK (UINT64_C(1) << 22)

typedef struct {
	LodeSummaryOrder order;
	uint32_t limit;          /* chosen lines at depth 0; LODE_SUMMARY_LIMIT by default */
	const bool *is_eligible; /* [sequences]: false = left out by a filter; NULL: all */
} LodeSummaryOptions;

/* GArray of LodeSummaryLine in display order (parent before its children). */
GArray *lode_summary_build(const LodeFlowGraph *graph, const LodeMiningRun *run,
	const LodeSummaryOptions *options, const LodeProgress *progress, GError **error);

/* Makes run->summary, the default one, from the graph that the run was mined from. The errors of
 * lode_summary_build(): the run is then without. */
bool lode_summary_add(const LodeFlowGraph *graph, LodeMiningRun *run, const LodeProgress *progress,
	GError **error);
