/* SPDX-License-Identifier: MIT */
/* The summary tree (docs/mining.md §7) from the definitions, with every cover found by brute force.
 */
#pragma once

#include "analyses/mine/summary.h"

/*
 * GArray of LodeSummaryLine. `out_is_doubtful`: a decision hung on a difference below 1e-9, so that
 * rounding may decide it otherwise. The run is of this graph, its attribute ids are the graph's.
 */
GArray *naive_summary_build(const LodeFlowGraph *graph, const LodeMiningRun *run,
	const LodeSummaryOptions *options, bool *out_is_doubtful);
