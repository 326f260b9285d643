/* SPDX-License-Identifier: MIT */
/*
 * Counts in a frame which blocks follow which, so that a flow can list them by frequency. A hash
 * table: it is asked once for each invocation.
 */
#pragma once

#include "traces/block_flow.h"

typedef struct {
	uint32_t from, to;
	uint32_t count;
	uint32_t rank; /* among those of the same `from`; once listed */
} LodeFlowEdge;

typedef struct {
	LodeFlowEdge *edges; /* owned; by first appearance */
	size_t room;
	uint32_t n;
	uint32_t *table; /* owned; edge + 1 */
	uint32_t mask;
} LodeFlowEdges;

void lode_flow_edges_init(LodeFlowEdges *self);
void lode_flow_edges_clear(LodeFlowEdges *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFlowEdges, lode_flow_edges_clear)

/* Counts one more; gives the number of the edge. */
uint32_t lode_flow_edges_add(LodeFlowEdges *self, uint32_t from, uint32_t to);

/* Gives the flow its targets, and the edges their ranks. */
void lode_flow_edges_list(LodeFlowEdges *self, LodeBlockFlow *flow);
