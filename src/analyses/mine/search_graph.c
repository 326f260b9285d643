/* SPDX-License-Identifier: MIT */
#include "analyses/mine/search_graph.h"

#include "base/hash.h"
#include "base/large_array.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A window as a list of vertex classes: the shorter list and the class after it. */
typedef struct {
	uint32_t shorter, vertex_class;
	uint32_t window_class;
} WindowList;

static const double tolerance = 1e-12; /* docs/mining.md §4 */

bool lode_support_passes(const LodeMiningParameters *parameters, double weight, double frequency)
{
	return fmax(weight, frequency) >= parameters->min_support - tolerance ||
	       fabs(weight - frequency) >= parameters->min_differential - tolerance;
}

LodeGrid lode_grid_for(double total)
{
	int exponent;

	/* Sums with `shift` are between it and twice that, where numbers are 2^(exponent − 52)
	 * apart. */
	frexp(total > 0 && isfinite(total) ? total : 1, &exponent);
	exponent = CLAMP(exponent, DBL_MIN_EXP + 64, DBL_MAX_EXP - 2);
	return (LodeGrid){ldexp(1, exponent - 52), ldexp(1, exponent)};
}

typedef struct {
	double weight, count;
	uint32_t functions, last_graph;
} SingleSupport;

/* The support of each attribute alone: every vertex that has it, at its full count. */
static SingleSupport *measure_singles(const LodeFlowGraph *graph)
{
	SingleSupport *singles = g_new0(SingleSupport, graph->n_attributes + 1);

	for (uint32_t i = 0; i < graph->n_attributes; i++)
		singles[i].last_graph = LODE_NONE;
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		uint32_t class_id = graph->attribute_classes[v];
		if (!(graph->count[v] > 0))
			continue;
		for (uint32_t i = graph->class_starts[class_id];
			i < graph->class_starts[class_id + 1]; i++) {
			SingleSupport *single = &singles[graph->class_members[i]];
			single->weight += graph->weight[v];
			single->count += graph->count[v];
			single->functions += single->last_graph != graph->vertex_graphs[v];
			single->last_graph = graph->vertex_graphs[v];
		}
	}
	return singles;
}

/* Fills item_attributes; gives attribute → item, LODE_NONE where it does not pass. */
static uint32_t *choose_items(LodeSearchGraph *self, const LodeMiningParameters *parameters)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree SingleSupport *singles = measure_singles(graph);
	uint32_t *items = g_new(uint32_t, graph->n_attributes + 1);

	self->item_attributes = g_new(uint32_t, graph->n_attributes + 1);
	for (uint32_t i = 0; i < graph->n_attributes; i++) {
		const SingleSupport *single = &singles[i];
		bool passes = single->functions >= MAX(parameters->min_functions, 1) &&
		              lode_support_passes(parameters, single->weight / self->total_weight,
				      single->count / self->total_count);
		items[i] = passes ? self->n_items : LODE_NONE;
		if (passes)
			self->item_attributes[self->n_items++] = i;
	}
	return items;
}

static uint64_t hash_members(const uint32_t *members, uint32_t n)
{
	uint64_t hash = n;

	for (uint32_t i = 0; i < n; i++)
		hash = lode_hash_append(hash, members[i]);
	return hash;
}

static void grow_class_table(LodeSearchGraph *self)
{
	size_t size = MAX(self->table_size * 2, 1024);
	const uint64_t *hashes = (const uint64_t *)(void *)self->class_hashes->data;

	self->class_table = g_renew(uint32_t, self->class_table, size);
	memset(self->class_table, 0xff, size * sizeof(uint32_t));
	self->table_size = size;
	for (uint32_t i = 0; i < self->n_classes; i++) {
		size_t at = hashes[i] & (size - 1);
		while (self->class_table[at] != LODE_NONE)
			at = (at + 1) & (size - 1);
		self->class_table[at] = i;
	}
}

/* The class with these members, made when new. */
static uint32_t intern_class(LodeSearchGraph *self, const uint32_t *members, uint32_t n)
{
	uint64_t hash = hash_members(members, n);

	if ((size_t)(self->n_classes + 1) * 2 > self->table_size)
		grow_class_table(self);
	size_t mask = self->table_size - 1, at = hash & mask;
	for (; self->class_table[at] != LODE_NONE; at = (at + 1) & mask) {
		uint32_t known = self->class_table[at], n_known;
		if (g_array_index(self->class_hashes, uint64_t, known) != hash)
			continue;
		const uint32_t *same = lode_search_graph_class(self, known, &n_known);
		if (n_known == n && (n == 0 || memcmp(same, members, n * sizeof(uint32_t)) == 0))
			return known;
	}
	self->class_table[at] = self->n_classes;
	g_array_append_val(self->class_hashes, hash);
	if (n > 0)
		g_array_append_vals(self->class_members, members, n);
	guint end = self->class_members->len;
	g_array_append_val(self->class_starts, end);
	return self->n_classes++;
}

/* Projects the graph's attribute classes onto the items; class 0 is the empty one. */
static void project_classes(LodeSearchGraph *self, const uint32_t *items)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree uint32_t *members = g_new(uint32_t, self->n_items + 1);
	g_autofree uint32_t *projected = g_new0(uint32_t, graph->n_classes + 1);

	intern_class(self, members, 0);
	for (uint32_t i = 0; i < graph->n_classes; i++) {
		uint32_t n = 0;
		for (uint32_t j = graph->class_starts[i]; j < graph->class_starts[i + 1]; j++) {
			uint32_t item = items[graph->class_members[j]];
			if (item != LODE_NONE)
				members[n++] = item | LODE_MEMBER_FIRST | LODE_MEMBER_LAST;
		}
		projected[i] = intern_class(self, members, n);
	}
	self->n_vertex_classes = self->n_classes;
	self->vertex_classes = g_new(uint32_t, graph->n_vertices + 1);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		self->vertex_classes[v] = projected[graph->attribute_classes[v]];
}

/* What is filtered out is in the totals, but a total of a hostile file may be too small. */
static void prepare_grids(LodeSearchGraph *self)
{
	const LodeFlowGraph *graph = self->graph;
	double count = 0, weight = 0;

	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		count += graph->count[v];
		weight += graph->weight[v];
	}
	self->count_grid = lode_grid_for(fmax(count, self->total_count));
	self->weight_grid = lode_grid_for(fmax(weight, self->total_weight));
}

static void prepare_vertices(LodeSearchGraph *self)
{
	const LodeFlowGraph *graph = self->graph;

	self->vertices = g_new0(LodeSearchVertex, graph->n_vertices + 1);
	lode_large_array_advise(self->vertices, (graph->n_vertices + 1) * sizeof(LodeSearchVertex));
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		double count = lode_grid_round_count(self->count_grid, graph->count[v]);
		self->vertices[v].count = count;
		self->vertices[v].ratio = count > 0 ? graph->weight[v] / count : 0;
		self->vertices[v].graph = graph->vertex_graphs[v];
	}
}

/* Writes the vertex's value of each event into the row, 0 for those it does not have. */
static void read_events(const LodeFlowGraph *graph, uint32_t vertex, double *row)
{
	memset(row, 0, sizeof(double) * graph->n_events);
	for (uint32_t i = graph->event_starts[vertex]; i < graph->event_starts[vertex + 1]; i++)
		row[graph->event_ids[i]] += graph->event_values[i];
}

/*
 * The rate that more than half of the vertices have, where there is one (R. S. Boyer, J S. Moore,
 * "MJRTY: a fast majority vote algorithm", 1991); another where there is none, which only makes
 * more values differ. A rate above the average is not used: hot vertices would differ from it by
 * more than there is in all, and the difference of large numbers is not exact.
 */
static void find_event_rates(LodeSearchGraph *self, double *row)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree uint32_t *votes = g_new0(uint32_t, graph->n_events + 1);

	self->event_rates = g_new0(double, graph->n_events + 1);
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		read_events(graph, v, row);
		for (uint32_t e = 0; e < graph->n_events; e++) {
			double rate = row[e] / graph->count[v];
			if (!isfinite(rate))
				continue;
			if (votes[e] == 0)
				self->event_rates[e] = rate;
			votes[e] += rate == self->event_rates[e] ? 1 : UINT32_MAX;
		}
	}
	for (uint32_t e = 0; e < graph->n_events; e++)
		if (!(self->event_rates[e] * self->total_count <=
			    graph->event_totals[e] * (1 + 1e-9)))
			self->event_rates[e] = 0;
}

static void prepare_events(LodeSearchGraph *self)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree double *row = g_new(double, graph->n_events + 1);
	g_autofree double *sums = g_new0(double, graph->n_events + 1);
	g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(LodeEventValue));

	find_event_rates(self, row);
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		self->vertices[v].first_event = values->len;
		if (!(graph->count[v] > 0))
			continue;
		read_events(graph, v, row);
		for (uint32_t e = 0; e < graph->n_events; e++) {
			LodeEventValue one = {row[e] - self->event_rates[e] * graph->count[v], e};
			if (one.value != 0)
				g_array_append_val(values, one);
			sums[e] += fabs(one.value);
		}
	}
	self->event_grids = g_new(LodeGrid, graph->n_events + 1);
	for (uint32_t e = 0; e < graph->n_events; e++)
		self->event_grids[e] = lode_grid_for(2 * sums[e]);
	self->vertices[graph->n_vertices].first_event = values->len;
	self->event_values = (LodeEventValue *)(void *)g_array_free(
		g_steal_pointer(&values), FALSE);
}

/*
 * All of a step's arithmetic that does not depend on the path (docs/mining.md §3), so that a step
 * is one minimum, product or sum.
 */
static double edge_factor(const LodeSearchGraph *self, uint32_t source, uint32_t edge)
{
	const LodeFlowGraph *graph = self->graph;
	double count = graph->edge_counts[edge];
	double executions = graph->count[source];

	switch (self->flow) {
	case LODE_FLOW_POTENTIAL:
		return lode_grid_round_count(
			self->count_grid, fmin(count, graph->count[graph->edge_targets[edge]]));
	case LODE_FLOW_EXPECTED:
		return executions > 0 ? count / executions : 0;
	case LODE_FLOW_DEFINITE:
		return lode_grid_round_count(self->count_grid, count) -
		       self->vertices[source].count;
	}
	g_assert_not_reached();
}

/* An edge that no counted path takes is left out; with `needs_items`, that is without gaps and
 * windows, also one to a vertex without items, where every path ends. */
static bool is_useful(
	const LodeSearchGraph *self, double factor, uint32_t vertex_class, bool needs_items)
{
	if (needs_items && vertex_class == 0)
		return false;
	return self->flow == LODE_FLOW_DEFINITE || factor > 0;
}

static void prepare_edges(LodeSearchGraph *self, bool needs_items)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t n = 0;

	self->is_monotone = true;
	self->edge_starts = g_new(uint32_t, graph->n_vertices + 1);
	self->edges = g_new(LodeSearchEdge, graph->n_edges + 1);
	lode_large_array_advise(self->edges, (graph->n_edges + 1) * sizeof(LodeSearchEdge));
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		self->edge_starts[v] = n;
		for (uint32_t i = graph->edge_starts[v]; i < graph->edge_starts[v + 1]; i++) {
			uint32_t target = graph->edge_targets[i];
			double factor = edge_factor(self, v, i);
			if (self->flow == LODE_FLOW_DEFINITE && factor > 0)
				self->is_monotone = false;
			if (is_useful(self, factor, self->vertex_classes[target], needs_items))
				self->edges[n++] = (LodeSearchEdge){
					.factor = factor,
					.ratio = self->vertices[target].ratio,
					.target = target,
					.vertex_class = self->vertex_classes[target],
				};
		}
	}
	self->edge_starts[graph->n_vertices] = n;
}

/* Whether edges stay in their graphs: calls and returns may be edges, too. */
static bool has_separate_graphs(const LodeSearchGraph *self)
{
	const uint32_t *graphs = self->graph->vertex_graphs;
	bool is_separate = true;

	for (uint32_t v = 0; v < self->graph->n_vertices; v++)
		for (uint32_t i = self->edge_starts[v]; i < self->edge_starts[v + 1]; i++)
			is_separate &= graphs[self->edges[i].target] == graphs[v];
	return is_separate;
}

enum { BLOCK_VERTICES = 4096 };

static void prepare_blocks(LodeSearchGraph *self)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t most = has_separate_graphs(self) ? BLOCK_VERTICES : graph->n_vertices;
	uint32_t end = graph->n_vertices, block_end = end;

	/* From the last graph on, so that each knows the end of its block. */
	self->block_ends = g_new(uint32_t, graph->n_graphs + 1);
	for (uint32_t g = graph->n_graphs; g-- > 0;) {
		if (block_end - graph->graph_starts[g] > most)
			block_end = end;
		self->block_ends[g] = block_end;
		end = graph->graph_starts[g];
	}
}

/* A set of members as counts: on how many vertices of the window an item is, and on which end. */
typedef struct {
	uint32_t *n_vertices; /* [n_items] */
	bool *is_first, *is_last;
	GArray *members; /* uint32_t: the items met, then the class */
} WindowScratch;

static void count_vertex(const LodeSearchGraph *self, WindowScratch *scratch, uint32_t class_id,
	bool is_first, bool is_last)
{
	uint32_t n;
	const uint32_t *members = lode_search_graph_class(self, class_id, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = LODE_MEMBER_ITEM(members[i]);
		if (scratch->n_vertices[item]++ == 0) {
			scratch->is_first[item] = scratch->is_last[item] = false;
			g_array_append_val(scratch->members, item);
		}
		scratch->is_first[item] |= is_first;
		scratch->is_last[item] |= is_last;
	}
}

static int compare_items(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Few items, in some ascending runs, are sorted faster than a call per comparison would be. */
static void sort_items(uint32_t *items, uint32_t n)
{
	if (n > 32) {
		qsort(items, n, sizeof(uint32_t), compare_items);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t item = items[i], at = i;
		for (; at > 0 && items[at - 1] > item; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/*
 * The class of the window (shorter, class): its items, and which of them an end has alone. By
 * docs/mining.md §2 an element is minimal in it when one of its items is on the first vertex alone
 * and one on the last alone. Class 0 when no element can be.
 */
static uint32_t classify_list(
	LodeSearchGraph *self, WindowScratch *scratch, uint32_t shorter, uint32_t vertex_class)
{
	bool has_first = false, has_last = false;

	g_array_set_size(scratch->members, 0);
	count_vertex(self, scratch, vertex_class, false, true);
	for (; shorter >= self->n_vertex_classes;) {
		const WindowList *list = &g_array_index(
			self->lists, WindowList, shorter - self->n_vertex_classes);
		count_vertex(self, scratch, list->vertex_class, false, false);
		shorter = list->shorter;
	}
	count_vertex(self, scratch, shorter, true, false);
	uint32_t *members = (uint32_t *)(void *)scratch->members->data;
	uint32_t n = scratch->members->len;
	sort_items(members, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = members[i];
		bool is_alone = scratch->n_vertices[item] == 1;
		scratch->n_vertices[item] = 0;
		if (is_alone && scratch->is_first[item])
			members[i] |= LODE_MEMBER_FIRST;
		if (is_alone && scratch->is_last[item])
			members[i] |= LODE_MEMBER_LAST;
		has_first |= (members[i] & LODE_MEMBER_FIRST) != 0;
		has_last |= (members[i] & LODE_MEMBER_LAST) != 0;
	}
	return has_first && has_last ? intern_class(self, members, n) : 0;
}

/* Where the list that is one vertex longer is, or would be. */
static LodeListSlot *find_slot(const LodeSearchGraph *self, uint32_t list, uint32_t vertex_class)
{
	uint64_t key = (uint64_t)list << 32 | vertex_class;
	size_t mask = self->n_list_slots - 1, at = lode_hash_slot(key, 32) & mask;

	while (self->list_slots[at].list != 0 && self->list_slots[at].key != key)
		at = (at + 1) & mask;
	return &self->list_slots[at];
}

static void grow_slots(LodeSearchGraph *self)
{
	LodeListSlot *before = self->list_slots;
	size_t n = self->n_list_slots;

	self->n_list_slots = MAX(2 * n, 1024);
	self->list_slots = g_new0(LodeListSlot, self->n_list_slots);
	for (size_t i = 0; i < n; i++)
		if (before[i].list != 0)
			*find_slot(self, (uint32_t)(before[i].key >> 32),
				(uint32_t)before[i].key) = before[i];
	g_free(before);
}

static uint32_t add_list(
	LodeSearchGraph *self, WindowScratch *scratch, uint32_t shorter, uint32_t vertex_class)
{
	WindowList list = {.shorter = shorter, .vertex_class = vertex_class};

	list.window_class = classify_list(self, scratch, shorter, vertex_class);
	g_array_append_val(self->lists, list);
	return self->n_vertex_classes + self->lists->len - 1;
}

uint32_t lode_search_graph_longer_list(
	const LodeSearchGraph *self, uint32_t list, uint32_t vertex_class)
{
	return find_slot(self, list, vertex_class)->list;
}

uint32_t lode_search_graph_list_class(const LodeSearchGraph *self, uint32_t list)
{
	return g_array_index(self->lists, WindowList, list - self->n_vertex_classes).window_class;
}

/* The list one vertex longer, made when it is new: windows of the same classes are many. */
static uint32_t lengthen_list(
	LodeSearchGraph *self, WindowScratch *scratch, uint32_t list, uint32_t vertex_class)
{
	LodeListSlot *slot = find_slot(self, list, vertex_class);

	if (slot->list == 0) {
		uint32_t longer = add_list(self, scratch, list, vertex_class);
		*slot = (LodeListSlot){(uint64_t)list << 32 | vertex_class, longer};
		if (2 * (size_t)self->lists->len > self->n_list_slots)
			grow_slots(self);
		return longer;
	}
	return slot->list;
}

/* All windows from `list`, which ends in `vertex`, with up to `left` more vertices. They are made
 * before the search begins, so that its threads only read them. */
static void add_windows(LodeSearchGraph *self, WindowScratch *scratch, uint32_t list,
	uint32_t vertex, uint32_t left)
{
	for (uint32_t i = self->edge_starts[vertex]; left > 0 && i < self->edge_starts[vertex + 1];
		i++) {
		const LodeSearchEdge *edge = &self->edges[i];
		add_windows(self, scratch, lengthen_list(self, scratch, list, edge->vertex_class),
			edge->target, left - 1);
	}
}

static void prepare_windows(LodeSearchGraph *self, uint32_t window)
{
	const LodeFlowGraph *graph = self->graph;
	WindowScratch scratch = {
		.n_vertices = g_new0(uint32_t, self->n_items + 1),
		.is_first = g_new0(bool, self->n_items + 1),
		.is_last = g_new0(bool, self->n_items + 1),
		.members = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};

	grow_slots(self);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		for (uint32_t i = self->edge_starts[v]; i < self->edge_starts[v + 1]; i++) {
			LodeSearchEdge *edge = &self->edges[i];
			edge->window_list = lengthen_list(
				self, &scratch, self->vertex_classes[v], edge->vertex_class);
			edge->window_class = lode_search_graph_list_class(self, edge->window_list);
			add_windows(self, &scratch, edge->window_list, edge->target, window - 1);
		}
	g_free(scratch.n_vertices);
	g_free(scratch.is_first);
	g_free(scratch.is_last);
	g_array_unref(scratch.members);
}

static void prepare_class_bits(LodeSearchGraph *self)
{
	uint32_t n;

	if (self->n_items > 64)
		return;
	self->class_bits = g_new0(LodeClassBits, self->n_classes + 1);
	for (uint32_t class_id = 0; class_id < self->n_classes; class_id++) {
		const uint32_t *members = lode_search_graph_class(self, class_id, &n);
		LodeClassBits *bits = &self->class_bits[class_id];
		for (uint32_t i = 0; i < n; i++) {
			uint64_t bit = UINT64_C(1) << LODE_MEMBER_ITEM(members[i]);
			bits->items |= bit;
			bits->firsts |= (members[i] & LODE_MEMBER_FIRST) != 0 ? bit : 0;
			bits->lasts |= (members[i] & LODE_MEMBER_LAST) != 0 ? bit : 0;
		}
	}
}

LodeSearchGraph *lode_search_graph_new(
	const LodeFlowGraph *graph, const LodeMiningParameters *parameters)
{
	LodeSearchGraph *self = g_new0(LodeSearchGraph, 1);
	uint32_t zero = 0;

	self->graph = graph;
	self->flow = parameters->flow;
	self->total_weight = graph->total_weight > 0 ? graph->total_weight : 1;
	self->total_count = graph->total_count > 0 ? graph->total_count : 1;
	self->class_starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(self->class_starts, zero);
	/* With room: its data are never NULL, to which not even 0 may be added. */
	self->class_members = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), 1);
	self->class_hashes = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->lists = g_array_new(FALSE, FALSE, sizeof(WindowList));
	g_autofree uint32_t *items = choose_items(self, parameters);
	project_classes(self, items);
	prepare_grids(self);
	prepare_vertices(self);
	prepare_events(self);
	prepare_edges(self, parameters->gap == 0 && parameters->window == 0);
	prepare_blocks(self);
	if (parameters->window > 0) {
		prepare_windows(self, parameters->window);
	}
	prepare_class_bits(self);
	return self;
}

void lode_search_graph_free(LodeSearchGraph *self)
{
	if (self == NULL)
		return;
	g_free(self->item_attributes);
	g_free(self->vertices);
	g_free(self->block_ends);
	g_free(self->event_grids);
	g_free(self->event_rates);
	g_free(self->event_values);
	g_free(self->vertex_classes);
	g_free(self->edge_starts);
	g_free(self->edges);
	g_array_unref(self->class_starts);
	g_array_unref(self->class_members);
	g_array_unref(self->class_hashes);
	g_free(self->class_bits);
	g_free(self->class_table);
	g_array_unref(self->lists);
	g_free(self->list_slots);
	g_free(self);
}
