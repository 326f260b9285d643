/* SPDX-License-Identifier: MIT */
/*
 * One function's control flow as a circulation. A block is an arc between two nodes, so that its
 * count is a flow like that of an edge; the hub is all that is outside:
 *
 *           entry          block 0             edge            block 1          exit
 *      hub ───────▶ node 0 ───────▶ node 1 ───────────▶ node 2 ───────▶ node 3 ───────▶ hub
 *
 * Only what can be reached from the hub is in it, and the hub can be reached from all of it.
 */
#pragma once

#include "ingest/inference/flow_inference.h"

#define LODE_FLOW_OUTSIDE UINT32_MAX
#define LODE_FLOW_LIMIT (INT64_C(1) << 60) /* of all counts of a network together */

typedef struct {
	uint32_t source, target;    /* nodes */
	uint32_t item;              /* block b: b; edge e: n_blocks + e; or LODE_FLOW_OUTSIDE */
	bool is_known;              /* measured */
	bool is_free;               /* the cheapest flow is not alone: this one may change */
	int64_t count;              /* measured; 0 when unknown */
	int64_t increase, decrease; /* cost of a unit more or less */
	int64_t weight;             /* instructions that were sampled; above 0: costs grow */
	int64_t flow;
} LodeFlowArc;

typedef struct {
	uint32_t n_nodes, hub;
	LodeFlowArc *arcs;
	uint32_t n_arcs;
	uint32_t *out_starts, *out_arcs; /* node → arcs that leave it */
	uint32_t *in_starts, *in_arcs;   /* node → arcs that enter it */
	uint32_t *order;                 /* nodes, in reverse postorder from the hub */
	uint32_t n_order;
	double sample;  /* what one sample is, in units of flow */
	uint32_t *rank; /* node → its place in the order; UINT32_MAX: not in it */
} LodeFlowNetwork;

void lode_flow_network_clear(LodeFlowNetwork *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFlowNetwork, lode_flow_network_clear)

bool lode_flow_network_init(LodeFlowNetwork *self, const LodeInferenceGraph *graph,
	const LodeInferenceOptions *options, GError **error);

/*
 * Finds the cheapest flow; where that takes too long, one that conserves flow (and says so in
 * `out_is_optimal`).
 */
bool lode_flow_network_solve(
	LodeFlowNetwork *self, uint64_t max_work, bool *out_is_optimal, GError **error);

/* flow_balance.c: of all cheapest flows the one that splits evenly where nothing was measured. */
bool lode_flow_network_balance(LodeFlowNetwork *self, uint64_t max_work, GError **error);

/* flow_balance.c: sets all arcs to the whole flow that is nearest to the wanted amounts, in units.
 * Errors: _LIMIT, also where the bound on work does not suffice. */
bool lode_flow_network_round(
	LodeFlowNetwork *self, const double *wanted, uint64_t max_work, GError **error);

/* flow_paths.c: sends `from_hub[v]` units from the hub to each node v, `to_hub[v]` back from it. */
bool lode_flow_network_send(
	LodeFlowNetwork *self, const int64_t *from_hub, const int64_t *to_hub, GError **error);

/* flow_paths.c: enters each circulation that no flow from the hub reaches, by one unit. */
bool lode_flow_network_join(LodeFlowNetwork *self, uint64_t *out_n_joined, GError **error);

/* Sets an error of kind _LIMIT; false. */
bool lode_flow_network_no_memory(GError **error);
