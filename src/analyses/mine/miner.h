/* SPDX-License-Identifier: MIT */
/*
 * FlowGSP: frequent sequences of attributes along the paths of an execution flow graph, exactly by
 * docs/reference/mining.md (A. Jocksch, J. N. Amaral, M. Mitran, "Mining for Paths in Flow Graphs",
 * 2010).
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"
#include "base/ranks.h"

typedef struct LodeMiningRun LodeMiningRun;

/*
 * Mines the graph. The run has the sequences in canonical order (by items: attribute bytes, an item
 * in the element before one that starts a new element) and is the same for any number of threads.
 * Errors: _USAGE (parameters out of range), _LIMIT (memory), _CANCELLED.
 */
LodeMiningRun *lode_miner_run(const LodeFlowGraph *graph, const LodeMiningParameters *parameters,
	const char *name, const LodeProgress *progress, GError **error);

/* By how many threads that is. */
unsigned lode_miner_threads(const LodeMiningParameters *parameters);

/*
 * The same by several ranks, each of which calls it with the same graph and parameters, takes its
 * share of the search, and gets the same run (docs/use/ranks.md); where the run is incomplete, the
 * first rank has the whole of it, and the others are not to mine with these ranks again. NULL: no
 * other ranks.
 */
LodeMiningRun *lode_miner_run_shared(const LodeFlowGraph *graph,
	const LodeMiningParameters *parameters, const char *name, LodeRanks *ranks,
	const LodeProgress *progress, GError **error);
