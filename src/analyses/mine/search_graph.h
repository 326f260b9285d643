/* SPDX-License-Identifier: MIT */
/*
 * The flow graph as the miner walks it: only attributes that pass alone ("items", numbered by the
 * bytes of their names), vertex classes projected onto them, and edges with the flow model's factor
 * worked in, so that one step of a path is one load and one arithmetic operation.
 *
 * For windows longer than one vertex it also knows every *window class* that any path of the graph
 * can show: the union of its vertices' items, and the items that only its first and only its last
 * vertex has, which decide whether a window is minimal. Private to analyses/mine/.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"
#include "model/mining_run.h"

#include <stddef.h>

/*
 * Multiples of a power of two that is so small beside a total, and so large beside the precision of
 * numbers, that sums of up to twice the total are exact. Supports are sums of such multiples: they
 * are the same to the last bit in whatever order vertices are added, by however many threads or
 * processes.
 */
typedef struct {
	double unit;
	double shift; /* above the total: adding it and taking it away again leaves a multiple */
} LodeGrid;

static inline double lode_grid_round(LodeGrid self, double term)
{
	return (term + self.shift) - self.shift;
}

/* As lode_grid_round(), but at least one unit: a path that is taken stays one. */
static inline double lode_grid_round_count(LodeGrid self, double count)
{
	double rounded = lode_grid_round(self, count);

	return rounded > 0 || !(count > 0) ? rounded : self.unit;
}

/* The values of a vertex that turning sums into supports reads. */
typedef struct {
	double count;         /* n(v), as a multiple of the counts' grid */
	double ratio;         /* W(v)/n(v); 0 where n(v) = 0 */
	uint32_t first_event; /* into event_values, up to that of the next vertex */
	uint32_t graph;
} LodeSearchVertex;

/*
 * Most vertices have the same rate of an event, 0 or 1 say: the support of an event is that rate
 * times the executions of these vertices, and the values of the few others. Both are sums of terms
 * from 0 on. (Differences from the rate would cancel, and leave rounding errors of either sign.)
 */
typedef struct {
	double value; /* E(v), where it is not event_rates[event]·n(v) */
	uint32_t event;
} LodeEventValue;

typedef struct {
	double factor; /* potential: min(n(u,v), n(v)); expected: n(u,v)/n(u); definite: n(u,v) −
	                  n(u) */
	double ratio;  /* of the target */
	uint32_t target;
	uint32_t vertex_class; /* of the target */
	uint32_t window_class; /* of the window of its two ends; 0 where no window is so long */
	uint32_t window_list;  /* the list of that window */
} LodeSearchEdge;

/*
 * A member of a class: an item, and for windows of several vertices whether only the first or only
 * the last vertex has it. A single vertex is first and last at once.
 */
#define LODE_MEMBER_FIRST UINT32_C(0x80000000)
#define LODE_MEMBER_LAST UINT32_C(0x40000000)
#define LODE_MEMBER_ITEM(member) ((member)&UINT32_C(0x3fffffff))

/* A slot of the table of lists; 0: empty, and no list that is longer than another. */
typedef struct {
	uint64_t key; /* the shorter list, and the vertex class after it */
	uint32_t list;
} LodeListSlot;

/* The members of a class as bits, where there are at most 64 items. */
typedef struct {
	uint64_t items, firsts, lasts;
} LodeClassBits;

/* Sets of members, each with a number, in the order they were met. */
typedef struct {
	uint32_t n;
	GArray *starts;  /* uint32_t [n + 1] into members */
	GArray *members; /* uint32_t, ascending by item */
	GArray *hashes;  /* private: uint64_t [n] */
	uint32_t *table; /* private: by hash, open addressing */
	size_t table_size;
} LodeClassSet;

/*
 * A block is some graphs in a row with so few vertices that their sums and what else is known of
 * them stay in the caches. No path leaves it.
 */

/* Classes 0 … n_vertex_classes−1 are single vertices; class 0 has no members and never matches. */
typedef struct {
	const LodeFlowGraph *graph;
	LodeFlowModel flow;
	bool is_monotone; /* counts never rise along a path: dead paths can be dropped */
	uint32_t n_items;
	uint32_t *item_attributes;  /* item → graph attribute */
	LodeSearchVertex *vertices; /* [n_vertices + 1] */
	uint32_t *block_ends; /* [n_graphs]: the vertex after the block that the graph is in */
	LodeGrid count_grid, weight_grid;
	LodeGrid *event_grids; /* [n_events]: of event_values */
	double *event_rates;   /* [n_events]: per execution, of most vertices */
	LodeEventValue *event_values;
	uint32_t *vertex_classes;
	uint32_t *edge_starts;
	LodeSearchEdge *edges;
	uint32_t n_vertex_classes;
	LodeClassSet classes;      /* with those of longer windows */
	LodeClassBits *class_bits; /* [classes.n]; NULL with more items */
	GArray *lists;             /* private: windows as lists of vertex classes */
	LodeListSlot *list_slots;  /* private: longer lists, open addressing */
	size_t n_list_slots;
	double total_weight, total_count;
} LodeSearchGraph;

/* Whether supports pass the thresholds (docs/reference/mining.md §4, without the number of
 * functions). */
bool lode_support_passes(const LodeMiningParameters *parameters, double weight, double frequency);

/* Prepares a graph, by as many threads; the result is the same for any number. Never fails. The
 * graph must outlive it. */
LodeSearchGraph *lode_search_graph_new(
	const LodeFlowGraph *graph, const LodeMiningParameters *parameters, unsigned n_workers);
void lode_search_graph_free(LodeSearchGraph *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSearchGraph, lode_search_graph_free)

/*
 * Windows grow vertex by vertex; a list is the vertex classes of one. The list of a single vertex
 * is its class, that of an edge's two ends stands with the edge; longer ones are found from the
 * shorter list and the class after it. All windows of the graph are known once prepared.
 */
uint32_t lode_search_graph_longer_list(
	const LodeSearchGraph *self, uint32_t list, uint32_t vertex_class);
/* The class of a list of two classes or more. */
uint32_t lode_search_graph_list_class(const LodeSearchGraph *self, uint32_t list);

/* The members of a class of a set and how many. */
static inline const uint32_t *lode_class_set_members(
	const LodeClassSet *self, uint32_t class_id, uint32_t *out_n)
{
	const uint32_t *starts = (const uint32_t *)(const void *)self->starts->data;

	*out_n = starts[class_id + 1] - starts[class_id];
	return (const uint32_t *)(const void *)self->members->data + starts[class_id];
}

/* The same of a class of the graph. */
static inline const uint32_t *lode_search_graph_class(
	const LodeSearchGraph *self, uint32_t class_id, uint32_t *out_n)
{
	return lode_class_set_members(&self->classes, class_id, out_n);
}

/* The count of a path one edge longer, a multiple of the counts' grid. */
static inline double lode_flow_step(const LodeSearchGraph *self, double count, double factor)
{
	if (self->flow == LODE_FLOW_POTENTIAL)
		return count < factor ? count : factor;
	if (self->flow == LODE_FLOW_DEFINITE)
		return count + factor;
	return lode_grid_round_count(self->count_grid, count * factor);
}
