/* SPDX-License-Identifier: MIT */
/* A miner that is too slow to use and too simple to be wrong: 150 lines of code. See the header. */
#include "model/mining_run.h"

#include "naive_miner.h"

#include <string.h>

typedef struct {
	const LodeFlowGraph *graph;
	const LodeMiningParameters *parameters;
	uint64_t elements[16]; /* sets of attributes */
	uint32_t n;            /* elements */
	NaivePath path;        /* as far as it has been walked */
	GHashTable *found;     /* vertex list → NaivePath */
} Search;

/* Whether the element is within the union of the attributes at positions [first, end). */
static bool is_covered(const Search *self, uint32_t element, uint32_t first, uint32_t end)
{
	const LodeFlowGraph *graph = self->graph;
	uint64_t all = 0;
	for (uint32_t p = first; p < end; p++) {
		uint32_t c = graph->attribute_classes[self->path.vertices[p]];
		for (uint32_t i = graph->class_starts[c]; i < graph->class_starts[c + 1]; i++)
			all |= UINT64_C(1) << graph->class_members[i];
	}
	return (self->elements[element] & ~all) == 0;
}

static double path_count(const LodeFlowGraph *graph, const NaivePath *path, LodeFlowModel flow)
{
	double least = graph->count[path->vertices[0]], expected = least, definite = least;
	for (uint32_t i = 0; i + 1 < path->length; i++) {
		uint32_t e = graph->edge_starts[path->vertices[i]];
		while (graph->edge_targets[e] != path->vertices[i + 1])
			e++;
		double here = graph->count[path->vertices[i]], next = graph->edge_counts[e];
		least = MIN(least, MIN(next, graph->count[path->vertices[i + 1]]));
		expected *= here > 0 ? next / here : 0;
		definite -= here - next;
	}
	const double by_model[] = {least, expected, definite};
	return by_model[flow];
}

static void keep_path(Search *self)
{
	g_autoptr(GBytes) key = g_bytes_new(self->path.vertices, self->path.length * 4);
	NaivePath *known = g_hash_table_lookup(self->found, key);
	self->path.count = path_count(self->graph, &self->path, self->parameters->flow);
	if (known == NULL && self->path.count > 0) {
		known = g_memdup2(&self->path, sizeof(NaivePath));
		g_hash_table_insert(self->found, g_bytes_ref(key), known);
	}
	for (uint32_t i = 0; known != NULL && i < known->length; i++)
		known->elements[i] |= self->path.elements[i];
}

/* Puts `vertex` at the end of the path, where a window for `element` began at `first`; or begins
 * here, unless this is one of at most `gap` vertices before it. */
static void visit(Search *self, uint32_t element, uint32_t first, uint32_t gap, uint32_t vertex)
{
	const uint32_t *edges = self->graph->edge_starts + vertex;
	uint32_t last = self->path.length++, *elements = self->path.elements;
	self->path.vertices[last] = vertex;
	bool is_window = is_covered(self, element, first, last + 1) &&
	                 !is_covered(self, element, first + 1, last + 1) &&
	                 !is_covered(self, element, first, last);
	for (uint32_t p = first; p <= last; p++)
		elements[p] = is_window ? 1u << element : 0;
	if (is_window && element + 1 == self->n)
		keep_path(self);
	for (uint32_t e = edges[0]; is_window && element + 1 < self->n && e < edges[1]; e++)
		visit(self, element + 1, last + 1, self->parameters->gap,
			self->graph->edge_targets[e]);
	elements[last] = 0;
	for (uint32_t e = edges[0]; first == last && gap > 0 && e < edges[1]; e++)
		visit(self, element, last + 1, gap - 1, self->graph->edge_targets[e]);
	for (uint32_t e = edges[0]; last - first < self->parameters->window && e < edges[1]; e++)
		visit(self, element, first, 0, self->graph->edge_targets[e]);
	self->path.length--;
}

GHashTable *naive_paths_find(const LodeFlowGraph *graph, const LodeMiningParameters *parameters,
	const uint32_t *items, size_t n_items)
{
	Search search = {.graph = graph, .parameters = parameters};
	for (size_t i = 0; i < n_items; i++) {
		search.n += (items[i] & LODE_ITEM_START) != 0;
		search.elements[search.n - 1] |= UINT64_C(1) << LODE_ITEM_ATTRIBUTE(items[i]);
	}
	search.found = g_hash_table_new_full(
		g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, g_free);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		visit(&search, 0, 0, 0, v);
	return search.found;
}

/* Appends the prefix with one more item to the run when that passes. */
static void grow(const LodeFlowGraph *graph, LodeMiningRun *run, LodeSequence prefix, uint32_t item)
{
	const LodeMiningParameters *want = &run->parameters;
	LodeSequence out = {.first_item = run->items->len, .n_items = prefix.n_items + 1};
	g_array_set_size(run->items, run->items->len + out.n_items);
	uint32_t *items = &g_array_index(run->items, uint32_t, out.first_item);
	memcpy(items, &g_array_index(run->items, uint32_t, prefix.first_item), prefix.n_items * 4);
	items[prefix.n_items] = item;
	g_autoptr(GHashTable) paths = naive_paths_find(graph, want, items, out.n_items);
	g_autofree double *covered = g_new0(double, graph->n_vertices);
	g_autofree double *started = g_new0(double, graph->n_vertices);
	g_autofree double *events = g_new0(double, graph->n_events + 1);
	GHashTableIter iter;
	NaivePath *path;
	g_hash_table_iter_init(&iter, paths);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&path)) {
		started[path->vertices[0]] += path->count;
		for (uint32_t p = 0; p < path->length; p++) {
			bool is_new = path->elements[p] != 0;
			for (uint32_t q = 0; q < p; q++)
				is_new &= path->elements[q] == 0 ||
				          path->vertices[q] != path->vertices[p];
			covered[path->vertices[p]] += is_new ? path->count : 0;
		}
	}
	for (uint32_t u = 0, seen = 0; u < graph->n_vertices; u++) {
		double share = graph->count[u] > 0 ? MIN(1, covered[u] / graph->count[u]) : 0;
		out.executions += MIN(started[u], graph->count[u]);
		out.frequency += share * graph->count[u] / MAX(graph->total_count, 1e-300);
		out.weight += share * graph->weight[u] / MAX(graph->total_weight, 1e-300);
		for (uint32_t i = graph->event_starts[u]; i < graph->event_starts[u + 1]; i++)
			events[graph->event_ids[i]] += share * graph->event_values[i] /
			                               graph->event_totals[graph->event_ids[i]];
		out.places += started[u] > 0;
		out.functions += started[u] > 0 && graph->vertex_graphs[u] + 1 != seen;
		seen = started[u] > 0 ? graph->vertex_graphs[u] + 1 : seen;
	}
	bool passes = out.functions >= want->min_functions &&
	              (lode_sequence_maximal(&out) >= want->min_support - 1e-12 ||
			      lode_sequence_differential(&out) >= want->min_differential - 1e-12);
	g_array_set_size(run->items, passes ? run->items->len : (guint)out.first_item);
	g_array_append_vals(run->sequences, &out, passes);
	g_array_append_vals(run->event_supports, events, passes ? graph->n_events : 0);
}

/* Iteration after iteration; the sequences reported so far are the queue. */
LodeMiningRun *naive_miner_run(const LodeFlowGraph *graph, const LodeMiningParameters *parameters)
{
	LodeMiningRun *run = lode_mining_run_new("naive", parameters);
	for (uint32_t e = 0; e < graph->n_events; e++)
		g_ptr_array_add(run->events, g_strdup(graph->event_names[e]));
	for (uint32_t a = 0; a < graph->n_attributes; a++) {
		g_ptr_array_add(run->attributes, g_strdup(graph->attribute_names[a]));
		grow(graph, run, (LodeSequence){0}, a | LODE_ITEM_START);
	}
	guint n_alone = run->sequences->len;
	for (guint s = 0; s < run->sequences->len; s++) {
		LodeSequence prefix = g_array_index(run->sequences, LodeSequence, s);
		uint32_t last = lode_mining_run_items(run, s)[prefix.n_items - 1];
		for (guint i = 0; i < n_alone && prefix.n_items < parameters->iterations; i++) {
			uint32_t item = g_array_index(run->items, uint32_t, i);
			grow(graph, run, prefix, item);
			if (LODE_ITEM_ATTRIBUTE(item) > LODE_ITEM_ATTRIBUTE(last))
				grow(graph, run, prefix, LODE_ITEM_ATTRIBUTE(item));
		}
	}
	return run;
}
