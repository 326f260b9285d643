/* SPDX-License-Identifier: MIT */
/* Threads of one process that mine as ranks. */
#pragma once

#include "analyses/mine/miner.h"

/*
 * Mines the graph with `n` ranks. NULL and `error` when a rank failed; otherwise the run of the
 * first rank, and in `out_differs` whether another rank has a different one. `out_traffic`: of the
 * first rank, may be NULL.
 */
LodeMiningRun *thread_ranks_mine(const LodeFlowGraph *graph, const LodeMiningParameters *parameters,
	unsigned n, bool *out_differs, LodeRankTraffic *out_traffic, GError **error);
