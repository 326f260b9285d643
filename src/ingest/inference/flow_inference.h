/* SPDX-License-Identifier: MIT */
/*
 * Completes and repairs the execution counts of one function, so that flow is conserved: among all
 * flows through its control flow graph the one nearest to the measured counts, found as a flow of
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
	double weight; /* instructions, whose samples the count is the mean of; 0: counted */
	bool is_entry; /* control may come from outside; block 0 always is */
	bool is_exit;  /* control may leave the function here; a block without edges always does */
} LodeInferenceBlock;

typedef struct {
	uint32_t source, target; /* blocks */
	bool is_fall_through;    /* costs no less than a jump: see docs/inside/inference.md */
	double count;            /* measured; negative: unknown */
} LodeInferenceEdge;

typedef struct {
	const LodeInferenceBlock *blocks;
	uint32_t n_blocks;
	const LodeInferenceEdge *edges; /* any order; parallel edges are allowed */
	uint32_t n_edges;
} LodeInferenceGraph;

typedef struct {
	double unit;       /* what one measurement counts as: 1, or a sampling period */
	double sample;     /* what one sample counts as, where blocks have a weight; 0: a unit */
	uint64_t max_work; /* looks at an edge, before the cheapest flow is given up; 0: default */
} LodeInferenceOptions;

/* The arrays are the caller's, as long as the graph's. */
typedef struct {
	double *blocks, *edges;
	bool is_optimal;   /* false: max_work did not suffice; flow is conserved, but not nearest */
	uint64_t n_joined; /* units added so that no loop runs that was never entered */
} LodeInferenceResult;

/*
 * Fills the counts of blocks and edges, whole numbers in units of `unit`. For each block the flow
 * in (and from outside, where it is an entry) equals its count equals the flow out (and to the
 * outside, where it is an exit). A block that no exit can be reached from may be left anywhere.
 * Blocks and edges that no flow can reach get 0. Input that already is such a flow stays as it is.
 * Deterministic. The model: docs/inside/inference.md. Errors: _LIMIT when the graph or a count is
 * too large.
 */
bool lode_flow_inference_solve(const LodeInferenceGraph *graph, const LodeInferenceOptions *options,
	LodeInferenceResult *out, GError **error);

/* The same with the default bound on work, for who need not know whether it was reached. */
bool lode_flow_inference_run(const LodeInferenceGraph *graph, double unit, double *out_blocks,
	double *out_edges, GError **error);

/*
 * Makes a flow whole: to the nearest whole numbers in units of `unit` that conserve it as an
 * inferred flow does. `entered` is how much enters each block from outside. Changes nothing and
 * returns false where numbers are too large, or the work of default_max_work does not suffice.
 */
bool lode_flow_inference_round(const LodeInferenceGraph *graph, double unit, const double *entered,
	LodeInferenceResult *flow);
