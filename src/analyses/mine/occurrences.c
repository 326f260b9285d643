/* SPDX-License-Identifier: MIT */
/*
 * One sequence at a time: from each vertex that can begin its first window, all paths that match,
 * by plain recursion over elements, gaps and windows. docs/reference/mining.md §2 and §3, step by
 * step: unlike the miner this keeps each place with what is matched there, which is what annotating
 * code needs.
 */
#include "analyses/mine/occurrences.h"

#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "base/error.h"
#include "model/index.h"
#include "model/mining_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POSITIONS = 64 };

/* An attribute that no vertex has. */
#define ABSENT LODE_ITEM_ATTRIBUTE(UINT32_MAX)

/* A path under way or found; elements[i] has the bits of the elements in whose windows position i
 * lies, of all ways to match it. */
typedef struct {
	uint32_t n;
	double count;
	uint32_t vertices[MAX_POSITIONS];
	uint32_t elements[MAX_POSITIONS];
} Path;

typedef struct {
	double sum;       /* of counts, over all places */
	double place_sum; /* of the place being searched */
	uint32_t elements, place_elements;
} VertexSum;

/* Scratch memory of the search for one sequence. */
typedef struct {
	const LodeFlowGraph *graph;
	const LodeMiningParameters *parameters;
	VertexSum *sums;
	GArray *touched, *place_touched; /* uint32_t */
	uint32_t n_elements;
	uint32_t element_starts[MAX_POSITIONS + 1];
	const uint32_t *items;
	uint64_t *cover; /* [element × classes]: which of the element's items a class has */
	Path path;
	GArray *found; /* Path, of one place */
} Search;

static void search_init(
	Search *self, const LodeFlowGraph *graph, const LodeMiningParameters *parameters)
{
	*self = (Search){.graph = graph, .parameters = parameters};
	self->sums = g_new0(VertexSum, graph->n_vertices + 1);
	self->touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->place_touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->found = g_array_new(FALSE, FALSE, sizeof(Path));
}

static void search_clear(Search *self)
{
	g_free(self->sums);
	g_free(self->cover);
	g_array_unref(self->touched);
	g_array_unref(self->place_touched);
	g_array_unref(self->found);
}

void lode_occurrences_free(LodeOccurrences *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->covered);
	g_array_unref(self->places);
	g_array_unref(self->matched);
	g_free(self);
}

/* Which of the items [first, end) the class has, as bits. */
static uint64_t cover_of(const Search *self, uint32_t class_id, uint32_t first, uint32_t end)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t at = graph->class_starts[class_id], at_end = graph->class_starts[class_id + 1];
	uint64_t bits = 0;

	for (uint32_t i = first; i < end; i++) {
		uint32_t wanted = LODE_ITEM_ATTRIBUTE(self->items[i]);
		while (at < at_end && graph->class_members[at] < wanted)
			at++;
		if (at < at_end && graph->class_members[at] == wanted)
			bits |= LODE_BIT(i - first);
	}
	return bits;
}

static void prepare_elements(Search *self, const uint32_t *items, size_t n_items)
{
	uint32_t n_classes = self->graph->n_classes;

	self->items = items;
	self->n_elements = 0;
	for (uint32_t i = 0; i < n_items; i++)
		if ((items[i] & LODE_ITEM_START) != 0)
			self->element_starts[self->n_elements++] = i;
	self->element_starts[self->n_elements] = (uint32_t)n_items;
	self->cover = g_new(uint64_t, (size_t)self->n_elements * n_classes + 1);
	for (uint32_t e = 0; e < self->n_elements; e++)
		for (uint32_t i = 0; i < n_classes; i++)
			self->cover[(size_t)e * n_classes + i] = cover_of(
				self, i, self->element_starts[e], self->element_starts[e + 1]);
}

static uint64_t vertex_cover(const Search *self, uint32_t element, uint32_t vertex)
{
	return self->cover[(size_t)element * self->graph->n_classes +
			   self->graph->attribute_classes[vertex]];
}

static uint64_t full_cover(const Search *self, uint32_t element)
{
	uint32_t n = self->element_starts[element + 1] - self->element_starts[element];

	return lode_low_bits(n);
}

/* Whether positions [first, n) are a minimal window for the element. */
static bool is_window(const Search *self, uint32_t element, uint32_t first)
{
	const Path *path = &self->path;
	uint64_t but_first = 0, but_last = 0, full = full_cover(self, element);

	for (uint32_t i = first; i < path->n; i++) {
		uint64_t own = vertex_cover(self, element, path->vertices[i]);
		but_first |= i > first ? own : 0;
		but_last |= i + 1 < path->n ? own : 0;
	}
	uint64_t last = vertex_cover(self, element, path->vertices[path->n - 1]);
	return (but_last | last) == full && but_first != full && but_last != full;
}

/* Keeps the path at hand, or adds this way of matching it to the same path found before. */
static void keep_path(Search *self)
{
	const Path *path = &self->path;

	if (!(path->count > 0))
		return;
	bool is_unique = self->parameters->gap == 0 && self->parameters->window == 0;
	for (guint i = 0; i < self->found->len && !is_unique; i++) {
		Path *known = &g_array_index(self->found, Path, i);
		if (known->n != path->n ||
			memcmp(known->vertices, path->vertices, path->n * sizeof(uint32_t)) != 0)
			continue;
		for (uint32_t j = 0; j < path->n; j++)
			known->elements[j] |= path->elements[j];
		return;
	}
	g_array_append_vals(self->found, path, 1);
}

static double step(const Search *self, uint32_t source, uint32_t edge, double count)
{
	const LodeFlowGraph *graph = self->graph;
	double taken = graph->edge_counts[edge], executions = graph->count[source];

	switch (self->parameters->flow) {
	case LODE_FLOW_POTENTIAL:
		return fmin(count, fmin(taken, graph->count[graph->edge_targets[edge]]));
	case LODE_FLOW_EXPECTED:
		return executions > 0 ? count * (taken / executions) : 0;
	case LODE_FLOW_DEFINITE:
		return count + (taken - executions);
	}
	g_assert_not_reached();
}

/* Puts the edge's target after the path; false when no path that goes on from there has a count.
 * Under --flow definite a later step may raise a count of 0 or less. */
static bool push(Search *self, uint32_t edge)
{
	Path *path = &self->path;
	uint32_t source = path->vertices[path->n - 1];
	double count = step(self, source, edge, path->count);

	if (path->n == MAX_POSITIONS ||
		(!(count > 0) && self->parameters->flow != LODE_FLOW_DEFINITE))
		return false;
	path->vertices[path->n] = self->graph->edge_targets[edge];
	path->elements[path->n++] = 0;
	path->count = count;
	return true;
}

static void match_window(Search *self, uint32_t element, uint32_t first);

/* After the last window: up to `gaps` vertices, then windows of `element`. */
static void match_after(Search *self, uint32_t element, uint32_t gaps)
{
	Path *path = &self->path;
	double count = path->count;
	uint32_t n = path->n, source = path->vertices[n - 1];

	for (uint32_t i = self->graph->edge_starts[source];
		i < self->graph->edge_starts[source + 1]; i++) {
		if (!push(self, i))
			continue;
		match_window(self, element, n);
		if (gaps > 0)
			match_after(self, element, gaps - 1);
		path->n = n;
		path->count = count;
	}
}

/* The window is the path's tail from `first`; goes on after it when it matches. */
static void finish_window(Search *self, uint32_t element, uint32_t first)
{
	Path *path = &self->path;
	uint32_t n = path->n;

	if (!is_window(self, element, first))
		return;
	/* The elements from the 32nd on share a bit. */
	for (uint32_t i = first; i < n; i++)
		path->elements[i] |= 1u << MIN(element, 31);
	if (element + 1 == self->n_elements)
		keep_path(self);
	else
		match_after(self, element + 1, self->parameters->gap);
	for (uint32_t i = first; i < n; i++)
		path->elements[i] = 0;
}

/* All windows of `element` that start with position `first` and have the path as their front. */
static void match_window(Search *self, uint32_t element, uint32_t first)
{
	Path *path = &self->path;
	uint32_t n = path->n, source = path->vertices[n - 1];
	double count = path->count;

	if (n - first == 1 && vertex_cover(self, element, source) == 0)
		return;
	finish_window(self, element, first);
	if (n - first > self->parameters->window)
		return;
	for (uint32_t i = self->graph->edge_starts[source];
		i < self->graph->edge_starts[source + 1]; i++) {
		if (!push(self, i))
			continue;
		match_window(self, element, first);
		path->n = n;
		path->count = count;
	}
}

/* Adds a path's count to each of its matched vertices once. */
static void sum_path(Search *self, const Path *path)
{
	for (uint32_t i = 0; i < path->n; i++) {
		uint32_t v = path->vertices[i], elements = path->elements[i];
		if (elements == 0)
			continue;
		bool is_new = true;
		for (uint32_t j = 0; j < i && is_new; j++)
			is_new = path->vertices[j] != v || path->elements[j] == 0;
		VertexSum *sum = &self->sums[v];
		if (sum->sum == 0)
			g_array_append_val(self->touched, v);
		if (sum->place_sum == 0)
			g_array_append_val(self->place_touched, v);
		sum->sum += is_new ? path->count : 0;
		sum->place_sum += is_new ? path->count : 0;
		sum->elements |= elements;
		sum->place_elements |= elements;
	}
}

static void keep_place(Search *self, LodeOccurrences *out, uint32_t first)
{
	LodeOccurrencePlace place = {.first_vertex = first, .first_matched = out->matched->len};
	double sum = 0;

	for (guint i = 0; i < self->found->len; i++)
		sum += g_array_index(self->found, Path, i).count;
	place.executions = fmin(sum, self->graph->count[first]);
	out->executions += place.executions;
	qsort(self->place_touched->data, self->place_touched->len, sizeof(uint32_t),
		lode_compare_u32);
	for (guint i = 0; i < self->place_touched->len; i++) {
		uint32_t v = g_array_index(self->place_touched, uint32_t, i);
		VertexSum *vertex = &self->sums[v];
		LodeCoveredVertex matched = {
			v, fmin(vertex->place_sum, self->graph->count[v]), vertex->place_elements};
		g_array_append_val(out->matched, matched);
		vertex->place_sum = 0;
		vertex->place_elements = 0;
	}
	place.n_matched = out->matched->len - place.first_matched;
	g_array_append_val(out->places, place);
}

static void search_from(Search *self, LodeOccurrences *out, uint32_t vertex)
{
	/* Under this flow model later steps may raise a count of 0. */
	if (!(self->graph->count[vertex] > 0) && self->parameters->flow != LODE_FLOW_DEFINITE)
		return;
	g_array_set_size(self->found, 0);
	g_array_set_size(self->place_touched, 0);
	self->path.n = 1;
	self->path.count = self->graph->count[vertex];
	self->path.vertices[0] = vertex;
	self->path.elements[0] = 0;
	match_window(self, 0, 0);
	if (self->found->len == 0)
		return;
	for (guint i = 0; i < self->found->len; i++)
		sum_path(self, &g_array_index(self->found, Path, i));
	keep_place(self, out, vertex);
}

LODE_ORDER(compare_places, LodeOccurrencePlace, LODE_ASCENDING(first_vertex))

static void finish(Search *self, LodeOccurrences *out)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t last_graph = LODE_NONE;

	/* They were found class by class. */
	g_array_sort(out->places, compare_places);
	for (guint i = 0; i < out->places->len; i++) {
		uint32_t v = g_array_index(out->places, LodeOccurrencePlace, i).first_vertex;
		out->functions += graph->vertex_graphs[v] != last_graph;
		last_graph = graph->vertex_graphs[v];
	}
	if (self->touched->len > 0)
		qsort(self->touched->data, self->touched->len, sizeof(uint32_t), lode_compare_u32);
	for (guint i = 0; i < self->touched->len; i++) {
		uint32_t v = g_array_index(self->touched, uint32_t, i);
		LodeCoveredVertex covered = {
			v, fmin(self->sums[v].sum, graph->count[v]), self->sums[v].elements};
		if (!(covered.count > 0))
			continue;
		out->frequency += covered.count;
		out->weight += graph->weight[v] * (covered.count / graph->count[v]);
		g_array_append_val(out->covered, covered);
	}
	out->frequency /= graph->total_count > 0 ? graph->total_count : 1;
	out->weight /= graph->total_weight > 0 ? graph->total_weight : 1;
}

static LodeOccurrences *find(Search *self, const uint32_t *items, size_t n_items)
{
	const LodeFlowGraph *graph = self->graph;
	LodeOccurrences *out = g_new0(LodeOccurrences, 1);

	out->covered = g_array_new(FALSE, FALSE, sizeof(LodeCoveredVertex));
	out->places = g_array_new(FALSE, FALSE, sizeof(LodeOccurrencePlace));
	out->matched = g_array_new(FALSE, FALSE, sizeof(LodeCoveredVertex));
	prepare_elements(self, items, n_items);
	/* Goes by class, as many vertices share one: few vertices without a match are visited. */
	uint64_t full = full_cover(self, 0);
	for (uint32_t i = 0; i < graph->n_classes; i++) {
		uint64_t cover = self->cover[i];
		if (cover == 0 || (self->parameters->window == 0 && cover != full))
			continue;
		for (uint32_t j = graph->class_vertex_starts[i];
			j < graph->class_vertex_starts[i + 1]; j++)
			search_from(self, out, graph->class_vertices[j]);
	}
	finish(self, out);
	return out;
}

LodeOccurrences *lode_occurrences_find(const LodeFlowGraph *graph, const uint32_t *items,
	size_t n_items, const LodeMiningParameters *parameters, GError **error)
{
	Search search;

	if (n_items == 0 || n_items > MAX_POSITIONS || (items[0] & LODE_ITEM_START) == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"a sequence has between 1 and %d items", MAX_POSITIONS);
		return NULL;
	}
	search_init(&search, graph, parameters);
	LodeOccurrences *out = find(&search, items, n_items);
	search_clear(&search);
	return out;
}

uint32_t *lode_occurrences_map_items(
	const LodeFlowGraph *graph, const LodeMiningRun *run, size_t index)
{
	const LodeSequence *one = &g_array_index(run->sequences, LodeSequence, index);
	const uint32_t *items = lode_mining_run_items(run, index);
	g_autofree uint32_t *mapped = g_new(uint32_t, one->n_items + 1);

	for (uint32_t i = 0; i < one->n_items; i++) {
		const char *name = g_ptr_array_index(
			run->attributes, LODE_ITEM_ATTRIBUTE(items[i]));
		uint32_t at = (uint32_t)LODE_PARTITION_POINT(
			graph->n_attributes, k, strcmp(graph->attribute_names[k], name) < 0);
		bool is_there = at < graph->n_attributes &&
		                strcmp(graph->attribute_names[at], name) == 0;
		/* Instruction sequences are counted in all code; an opcode that never executed is
		 * in no vertex. */
		if (!is_there && !run->parameters.is_instruction_mode)
			return NULL;
		mapped[i] = (is_there ? at : ABSENT) | (items[i] & LODE_ITEM_START);
	}
	return g_steal_pointer(&mapped);
}
