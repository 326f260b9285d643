/* SPDX-License-Identifier: MIT */
/*
 * The flow graph as the miner walks it: only attributes that pass alone ("items", numbered by the
 * bytes of their names), vertex classes projected onto them, and edges with the flow model's factor
 * worked in, so that one step of a path is one load and one arithmetic operation.
 *
 * For windows longer than one vertex it also knows every *window class* that any path of the graph
 * can show: the union of its vertices' items, and the items that only its first and only its last
 * vertex has, which decide whether a window is minimal. Private to the miner.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"

#include <stddef.h>

typedef struct {
	double count; /* n(v) */
	double ratio; /* W(v)/n(v); 0 where n(v) = 0 */
} LodeSearchVertex;

typedef struct {
	double factor; /* potential: min(n(u,v), n(v)); expected: n(u,v)/n(u); definite: n(u,v) −
	                  n(u) */
	uint32_t target;
	uint32_t vertex_class; /* of the target */
} LodeSearchEdge;

/* Where a set of items can be the element: classes 0 … n_vertex_classes−1 are single vertices. */
typedef struct {
	const LodeFlowGraph *graph;
	LodeFlowModel flow;
	bool is_monotone; /* counts never rise along a path: dead paths can be dropped */
	uint32_t n_items, n_words;
	uint32_t *item_attributes; /* item → graph attribute */
	LodeSearchVertex *vertices;
	uint32_t *vertex_classes; /* 0 = no items */
	uint32_t *edge_starts;
	LodeSearchEdge *edges;
	uint32_t n_vertex_classes;
	uint32_t n_classes;    /* with those of longer windows */
	GArray *class_bits;    /* uint64_t [n_classes × n_words]: items of the window */
	GArray *class_first;   /* likewise: items that only its first vertex has; all for one vertex
	                        */
	GArray *class_last;    /* likewise: its last */
	GArray *class_starts;  /* uint32_t [n_classes + 1] into class_items */
	GArray *class_items;   /* uint32_t, ascending */
	bool *class_can_match; /* [n_classes]: has an item first and one last */
	GArray *lists;         /* private: windows as lists of vertex classes */
	GHashTable *list_ids;  /* private: (list, vertex class) → longer list */
	GHashTable *class_ids; /* private: bits → class */
	uint32_t *edge_lists;  /* the list of (source, target); NULL when w = 0 */
	double total_weight, total_count;
} LodeSearchGraph;

/* Whether supports pass the thresholds (docs/mining.md §4, without the number of functions). */
bool lode_support_passes(const LodeMiningParameters *parameters, double weight, double frequency);

/* Prepares a graph; never fails. The graph must outlive it. */
LodeSearchGraph *lode_search_graph_new(
	const LodeFlowGraph *graph, const LodeMiningParameters *parameters);
void lode_search_graph_free(LodeSearchGraph *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSearchGraph, lode_search_graph_free)

/*
 * Windows grow vertex by vertex. A list is a window's vertex classes; the list of one vertex is its
 * class. lode_search_graph_add_list() makes the longer list when it is new (only while preparing,
 * from one thread); lode_search_graph_longer_list() finds it.
 */
uint32_t lode_search_graph_add_list(LodeSearchGraph *self, uint32_t list, uint32_t vertex_class);
uint32_t lode_search_graph_longer_list(
	const LodeSearchGraph *self, uint32_t list, uint32_t vertex_class);
uint32_t lode_search_graph_list_class(const LodeSearchGraph *self, uint32_t list);

/* The count of a path one edge longer. */
static inline double lode_flow_step(LodeFlowModel flow, double count, double factor)
{
	if (flow == LODE_FLOW_POTENTIAL)
		return count < factor ? count : factor;
	return flow == LODE_FLOW_EXPECTED ? count * factor : count + factor;
}
