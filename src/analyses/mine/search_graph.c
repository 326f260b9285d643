/* SPDX-License-Identifier: MIT */
#include "analyses/mine/search_graph.h"

#include "base/pair_hash.h"

#include <math.h>
#include <string.h>

/* A window as a list of vertex classes: the shorter list and the class behind it. */
typedef struct {
	uint32_t shorter, vertex_class;
	uint32_t window_class;
} WindowList;

static const double tolerance = 1e-12;

bool lode_support_passes(const LodeMiningParameters *parameters, double weight, double frequency)
{
	return fmax(weight, frequency) >= parameters->min_support - tolerance ||
	       fabs(weight - frequency) >= parameters->min_differential - tolerance;
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
	self->n_words = (self->n_items + 63) / 64;
	return items;
}

static guint hash_bits(const void *data)
{
	const GBytes *bytes = data;

	return g_bytes_hash(bytes);
}

/* The class with these three sets of items, made when new. */
static uint32_t intern_class(
	LodeSearchGraph *self, const uint64_t *bits, const uint64_t *first, const uint64_t *last)
{
	size_t size = sizeof(uint64_t) * self->n_words;
	g_autoptr(GByteArray) key = g_byte_array_sized_new((guint)(3 * size));
	void *found;

	g_byte_array_append(key, (const guint8 *)bits, (guint)size);
	g_byte_array_append(key, (const guint8 *)first, (guint)size);
	g_byte_array_append(key, (const guint8 *)last, (guint)size);
	g_autoptr(GBytes) bytes = g_bytes_new(key->data, key->len);
	if (g_hash_table_lookup_extended(self->class_ids, bytes, NULL, &found))
		return GPOINTER_TO_UINT(found);
	uint32_t id = self->n_classes++;
	g_array_append_vals(self->class_bits, bits, self->n_words);
	g_array_append_vals(self->class_first, first, self->n_words);
	g_array_append_vals(self->class_last, last, self->n_words);
	for (uint32_t i = 0; i < self->n_items; i++)
		if ((bits[i / 64] >> (i % 64) & 1) != 0)
			g_array_append_val(self->class_items, i);
	guint end = self->class_items->len;
	g_array_append_val(self->class_starts, end);
	g_hash_table_insert(self->class_ids, g_steal_pointer(&bytes), GUINT_TO_POINTER(id));
	return id;
}

/* Projects the graph's attribute classes onto the items; class 0 is the empty one. */
static void project_classes(LodeSearchGraph *self, const uint32_t *items)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree uint64_t *bits = g_new0(uint64_t, self->n_words + 1);
	g_autofree uint32_t *projected = g_new0(uint32_t, graph->n_classes + 1);

	intern_class(self, bits, bits, bits);
	for (uint32_t i = 0; i < graph->n_classes; i++) {
		memset(bits, 0, sizeof(uint64_t) * self->n_words);
		for (uint32_t j = graph->class_starts[i]; j < graph->class_starts[i + 1]; j++) {
			uint32_t item = items[graph->class_members[j]];
			if (item != LODE_NONE)
				bits[item / 64] |= UINT64_C(1) << (item % 64);
		}
		projected[i] = intern_class(self, bits, bits, bits);
	}
	self->n_vertex_classes = self->n_classes;
	self->vertex_classes = g_new(uint32_t, graph->n_vertices + 1);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		self->vertex_classes[v] = projected[graph->attribute_classes[v]];
}

static void prepare_vertices(LodeSearchGraph *self)
{
	const LodeFlowGraph *graph = self->graph;

	self->vertices = g_new(LodeSearchVertex, graph->n_vertices + 1);
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		double count = graph->count[v];
		self->vertices[v].count = count;
		self->vertices[v].ratio = count > 0 ? graph->weight[v] / count : 0;
	}
}

static double edge_factor(const LodeSearchGraph *self, uint32_t source, uint32_t edge)
{
	const LodeFlowGraph *graph = self->graph;
	double count = graph->edge_counts[edge];
	double executions = graph->count[source];

	switch (self->flow) {
	case LODE_FLOW_POTENTIAL:
		return fmin(count, graph->count[graph->edge_targets[edge]]);
	case LODE_FLOW_EXPECTED:
		return executions > 0 ? count / executions : 0;
	case LODE_FLOW_DEFINITE:
		return count - executions;
	}
	g_assert_not_reached();
}

/* An edge that no counted path takes is left out; with `needs_items` also one to a bare vertex. */
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
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		self->edge_starts[v] = n;
		for (uint32_t i = graph->edge_starts[v]; i < graph->edge_starts[v + 1]; i++) {
			uint32_t target = graph->edge_targets[i];
			double factor = edge_factor(self, v, i);
			if (self->flow == LODE_FLOW_DEFINITE && factor > 0)
				self->is_monotone = false;
			if (is_useful(self, factor, self->vertex_classes[target], needs_items))
				self->edges[n++] = (LodeSearchEdge){
					factor, target, self->vertex_classes[target]};
		}
	}
	self->edge_starts[graph->n_vertices] = n;
}

/* The list (shorter, class) as a window class: union, and what its ends have alone. */
static uint32_t classify_list(LodeSearchGraph *self, uint32_t shorter, uint32_t vertex_class)
{
	g_autofree uint32_t *chain = g_new(uint32_t, 256);
	uint32_t n = 0, words = self->n_words;

	chain[n++] = vertex_class;
	while (shorter >= self->n_vertex_classes && n < 255) {
		const WindowList *list = &g_array_index(
			self->lists, WindowList, shorter - self->n_vertex_classes);
		chain[n++] = list->vertex_class;
		shorter = list->shorter;
	}
	chain[n++] = shorter;
	g_autofree uint64_t *sets = g_new0(uint64_t, 3 * (size_t)words + 1);
	uint64_t *bits = sets, *but_first = sets + words, *but_last = sets + 2 * words;
	const uint64_t *all = (const uint64_t *)(void *)self->class_bits->data;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < words; j++) {
			uint64_t own = all[(size_t)chain[i] * words + j];
			bits[j] |= own;
			but_last[j] |= i > 0 ? own : 0; /* the chain runs from the last vertex */
			but_first[j] |= i + 1 < n ? own : 0;
		}
	for (uint32_t j = 0; j < words; j++) {
		but_first[j] = bits[j] & ~but_first[j];
		but_last[j] = bits[j] & ~but_last[j];
	}
	return intern_class(self, bits, but_first, but_last);
}

static void *list_key(uint32_t list, uint32_t vertex_class)
{
	return GSIZE_TO_POINTER((gsize)list << 32 | vertex_class);
}

uint32_t lode_search_graph_add_list(LodeSearchGraph *self, uint32_t list, uint32_t vertex_class)
{
	void *key = list_key(list, vertex_class);
	void *found = g_hash_table_lookup(self->list_ids, key);

	if (found != NULL)
		return GPOINTER_TO_UINT(found);
	WindowList longer = {.shorter = list, .vertex_class = vertex_class};
	longer.window_class = classify_list(self, list, vertex_class);
	g_array_append_val(self->lists, longer);
	uint32_t id = self->n_vertex_classes + self->lists->len - 1;
	g_hash_table_insert(self->list_ids, key, GUINT_TO_POINTER(id));
	return id;
}

uint32_t lode_search_graph_longer_list(
	const LodeSearchGraph *self, uint32_t list, uint32_t vertex_class)
{
	void *key = list_key(list, vertex_class);

	return GPOINTER_TO_UINT(g_hash_table_lookup(self->list_ids, key));
}

uint32_t lode_search_graph_list_class(const LodeSearchGraph *self, uint32_t list)
{
	if (list < self->n_vertex_classes)
		return list;
	return g_array_index(self->lists, WindowList, list - self->n_vertex_classes).window_class;
}

/* All windows from `list`, which ends in `vertex`, with up to `left` more vertices. */
static void add_windows(LodeSearchGraph *self, uint32_t list, uint32_t vertex, uint32_t left)
{
	for (uint32_t i = self->edge_starts[vertex]; left > 0 && i < self->edge_starts[vertex + 1];
		i++) {
		const LodeSearchEdge *edge = &self->edges[i];
		uint32_t longer = lode_search_graph_add_list(self, list, edge->vertex_class);
		add_windows(self, longer, edge->target, left - 1);
	}
}

static void prepare_windows(LodeSearchGraph *self, uint32_t window)
{
	const LodeFlowGraph *graph = self->graph;

	for (uint32_t v = 0; v < graph->n_vertices; v++)
		add_windows(self, self->vertex_classes[v], v, window);
	self->edge_lists = g_new0(uint32_t, self->edge_starts[graph->n_vertices] + 1);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		for (uint32_t i = self->edge_starts[v]; i < self->edge_starts[v + 1]; i++)
			self->edge_lists[i] = lode_search_graph_longer_list(
				self, self->vertex_classes[v], self->edges[i].vertex_class);
}

static void mark_classes(LodeSearchGraph *self)
{
	self->class_can_match = g_new0(bool, self->n_classes + 1);
	for (uint32_t i = 0; i < self->n_classes; i++) {
		uint64_t first = 0, last = 0;
		for (uint32_t j = i * self->n_words; j < (i + 1) * self->n_words; j++) {
			first |= g_array_index(self->class_first, uint64_t, j);
			last |= g_array_index(self->class_last, uint64_t, j);
		}
		self->class_can_match[i] = first != 0 && last != 0;
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
	self->class_bits = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->class_first = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->class_last = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	self->class_starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(self->class_starts, zero);
	self->class_items = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->lists = g_array_new(FALSE, FALSE, sizeof(WindowList));
	self->list_ids = g_hash_table_new(lode_pair_hash, NULL);
	self->class_ids = g_hash_table_new_full(
		hash_bits, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
	g_autofree uint32_t *items = choose_items(self, parameters);
	project_classes(self, items);
	prepare_vertices(self);
	prepare_edges(self, parameters->gap == 0 && parameters->window == 0);
	if (parameters->window > 0)
		prepare_windows(self, parameters->window);
	mark_classes(self);
	return self;
}

void lode_search_graph_free(LodeSearchGraph *self)
{
	if (self == NULL)
		return;
	g_free(self->item_attributes);
	g_free(self->vertices);
	g_free(self->vertex_classes);
	g_free(self->edge_starts);
	g_free(self->edges);
	g_free(self->edge_lists);
	g_free(self->class_can_match);
	g_array_unref(self->class_bits);
	g_array_unref(self->class_first);
	g_array_unref(self->class_last);
	g_array_unref(self->class_starts);
	g_array_unref(self->class_items);
	g_array_unref(self->lists);
	g_hash_table_unref(self->list_ids);
	g_hash_table_unref(self->class_ids);
	g_free(self);
}
