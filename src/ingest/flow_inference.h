/* SPDX-License-Identifier: MIT */
/*
 * Completes and repairs the execution counts of one function, so that flow is conserved: of all
 * flows through its control flow graph the one nearest to what was measured, found as a flow of
 * minimum cost.
 *
 * Levin, Newman, Haber: "Complementing missing and inaccurate profiling using a minimum cost
 * circulation algorithm", HiPEAC 2008; the cost model of He, Mestre, Pupyrev, Wang, Yu: "Profile
 * inference revisited", POPL 2022.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	double count;  /* measured; negative: unknown */
	bool is_entry; /* control may come from outside; block 0 always is */
	bool is_exit;  /* control may leave the function here; a block without edges always does */
} LodeInferenceBlock;

typedef struct {
	uint32_t source, target; /* blocks */
	bool is_fall_through;
	double count; /* measured; negative: unknown */
} LodeInferenceEdge;

typedef struct {
	const LodeInferenceBlock *blocks;
	uint32_t n_blocks;
	const LodeInferenceEdge *edges; /* any order; parallel edges are allowed */
	uint32_t n_edges;
} LodeInferenceGraph;

/*
 * Fills the counts of blocks and edges (whole numbers in units of `unit`, which is what one
 * measurement counts as: 1, or a sampling period). For each block the flow in (and from outside)
 * equals its count equals the flow out. What no flow can reach gets 0. Deterministic. Errors:
 * _LIMIT when the graph is too large to be solved in memory.
 */
bool lode_flow_inference_run(const LodeInferenceGraph *graph, double unit, double *out_blocks,
	double *out_edges, GError **error);
