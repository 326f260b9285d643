/* SPDX-License-Identifier: MIT */
/*
 * Outcomes of branches that were observed step by step, joined with an inferred flow: the flow of a
 * Markov chain whose blocks are left by each way with the probability that the observed steps and
 * the inferred ratio give together.
 *
 *   inferred flow ─▶ ratio of each way ┐
 *   observed steps of each way ────────┴─▶ probability ─▶ f = e + θᵀf ─▶ whole flow, conserved
 *
 * The chain is solved by elimination of one block after the other, without subtraction, so that
 * loops of any number of rounds are exact: W. Grassmann, M. Taksar, D. Heyman, "Regenerative
 * analysis and steady state distributions for Markov chains", Operations Research 33 (1985). The
 * model: docs/inside/inference.md, section 7.
 */
#pragma once

#include "ingest/inference/flow_inference.h"

/* The arrays are as long as the graph's. */
typedef struct {
	const LodeInferenceGraph *graph;
	const uint32_t *sizes; /* instructions of each block */
	const double *edges;   /* steps along each edge */
	const double *left;    /* steps from each block's end to outside */
	const double *entered; /* steps from outside to each block's begin */
} LodeBranchOutcomes;

/*
 * Replaces an inferred flow by that of the observed outcomes, which has as many executed
 * instructions; a function without inferred flow is entered once. Whole numbers in units of
 * `unit`, conserved like the inferred flow. Leaves the flow as it is, and returns false, where it
 * has executions and nothing was observed, and where the chain is too large.
 */
bool lode_branch_outcomes_apply(
	const LodeBranchOutcomes *self, double unit, LodeInferenceResult *flow);
