/* SPDX-License-Identifier: MIT */
/*
 * Minimum-cost flow: nodes that have something to send or need it, arcs with a capacity and a cost
 * per unit. Successive shortest paths: a search finds the node in need that is nearest to one that
 * still has an excess (Dijkstra on reduced costs), and as much flow as fits is sent along the path;
 * most functions need a few short paths. After a bound of work the remaining flow is sent by the
 * primal-dual method: one search from all nodes with an excess to all needs, then blocking flows
 * along paths of reduced cost 0 (Dinic), repeated until no excess is left. Long searches, each for
 * one path only, would take most of the time of a large function.
 *
 * R. Ahuja, T. Magnanti, J. Orlin: "Network Flows", 1993, chapters 9.7, 9.8.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LodeMinCostFlow LodeMinCostFlow;

typedef struct {
	uint32_t source, target;
	int64_t capacity; /* ≥ 0 */
	int64_t cost;     /* per unit, ≥ 0 */
} LodeMinCostArc;

typedef enum {
	LODE_MIN_COST_FLOW_OPTIMAL,
	LODE_MIN_COST_FLOW_INFEASIBLE, /* some of what nodes need cannot get there */
	LODE_MIN_COST_FLOW_LIMITED, /* stopped early: the flow sent so far is valid, but incomplete
	                             */
} LodeMinCostFlowStatus;

/* NULL where the memory does not suffice. */
LodeMinCostFlow *lode_min_cost_flow_new(uint32_t n_nodes, uint32_t max_arcs);
void lode_min_cost_flow_free(LodeMinCostFlow *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMinCostFlow, lode_min_cost_flow_free)

/* Gives the arc's number, from 0 on. Never more arcs than `max_arcs`, and none after solving. */
uint32_t lode_min_cost_flow_add_arc(LodeMinCostFlow *self, LodeMinCostArc arc);

/* Positive: the node has so much to send; negative: it needs so much. Adds up. */
void lode_min_cost_flow_add_supply(LodeMinCostFlow *self, uint32_t node, int64_t amount);

/*
 * Sends everything at least cost. Looks at an arc at most about `max_work` times. All supplies must
 * sum to 0, and their absolute values, with all finite capacities that meet in a node, stay within
 * 63 bits. Costs along a path must do so too.
 */
LodeMinCostFlowStatus lode_min_cost_flow_solve(LodeMinCostFlow *self, uint64_t max_work);

int64_t lode_min_cost_flow_sent(const LodeMinCostFlow *self, uint32_t arc);

/* The reduced cost of an arc in an optimal flow: above 0 where every optimal flow leaves the arc
 * empty, below 0 where full. */
int64_t lode_min_cost_flow_reduced_cost(const LodeMinCostFlow *self, uint32_t arc);

/* The flow that a node has still to send (or needs, when negative); 0 everywhere when optimal. */
int64_t lode_min_cost_flow_excess(const LodeMinCostFlow *self, uint32_t node);
