/* SPDX-License-Identifier: MIT */
/*
 * What the sequences of a run cover, one after the other: for each vertex the share of its
 * executions that belong to the sequence. Walks the miner's own levels and keeps those of the
 * prefix that a sequence has in common with the one before, so that sequences in canonical order
 * cost little more than in mining.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"

typedef struct {
	uint32_t vertex;
	double share; /* c(u)/n(u), above 0 */
} LodeVertexShare;

/* Shared by all threads: the prepared graph and the places of first elements. */
typedef struct LodeCoverageIndex LodeCoverageIndex;

/* Prepares the graph for the run's parameters. Both must outlive it. Errors: _LIMIT (memory). */
LodeCoverageIndex *lode_coverage_index_new(
	const LodeFlowGraph *graph, const LodeMiningRun *run, GError **error);
void lode_coverage_index_free(LodeCoverageIndex *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCoverageIndex, lode_coverage_index_free)

/* One thread's search. */
typedef struct LodeCoverageSearch LodeCoverageSearch;
LodeCoverageSearch *lode_coverage_search_new(LodeCoverageIndex *index);
void lode_coverage_search_free(LodeCoverageSearch *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCoverageSearch, lode_coverage_search_free)

/* The vertices that sequence `index` of the run covers: GArray of LodeVertexShare, ascending by
 * vertex; the caller owns it. NULL: the memory bound, or an attribute that the graph does not have.
 */
GArray *lode_coverage_find(LodeCoverageSearch *self, size_t index);
