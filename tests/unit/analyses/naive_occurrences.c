/* SPDX-License-Identifier: MIT */
#include "naive_occurrences.h"

#include "model/index.h"
#include "naive_miner.h"

/* Sums over some paths, by vertex. */
typedef struct {
	double *count;
	uint32_t *elements;
} Cover;

static void cover_add(Cover *self, const NaivePath *path)
{
	for (uint32_t p = 0; p < path->length; p++) {
		bool is_first = path->elements[p] != 0;
		for (uint32_t q = 0; q < p; q++)
			if (path->elements[q] != 0 && path->vertices[q] == path->vertices[p])
				is_first = false;
		if (is_first)
			self->count[path->vertices[p]] += path->count;
		self->elements[path->vertices[p]] |= path->elements[p];
	}
}

/* Appends the vertices with their counts capped: all matched ones or, with `out`, into which the
 * supports are summed, those with a count. */
static void cover_list(
	const Cover *self, const LodeFlowGraph *graph, GArray *list, LodeOccurrences *out)
{
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		LodeCoveredVertex covered = {
			v, MIN(self->count[v], graph->count[v]), self->elements[v]};
		if (out == NULL ? covered.elements == 0 : covered.count <= 0)
			continue;
		g_array_append_val(list, covered);
		if (out == NULL)
			continue;
		out->frequency += covered.count / graph->total_count;
		out->weight += graph->total_weight > 0
		                       ? graph->weight[v] * covered.count / graph->count[v] /
		                                 graph->total_weight
		                       : 0;
	}
}

/* The paths that start at `first`, or all for LODE_NONE; gives the sum of their counts. */
static double add_paths(Cover *cover, const LodeFlowGraph *graph, GHashTable *paths, uint32_t first)
{
	GHashTableIter iter;
	NaivePath *path;
	double sum = 0;

	cover->count = g_new0(double, graph->n_vertices);
	cover->elements = g_new0(uint32_t, graph->n_vertices);
	g_hash_table_iter_init(&iter, paths);
	while (g_hash_table_iter_next(&iter, NULL, (void **)&path)) {
		if (first != LODE_NONE && path->vertices[0] != first)
			continue;
		cover_add(cover, path);
		sum += path->count;
	}
	return sum;
}

static void add_place(
	LodeOccurrences *self, const LodeFlowGraph *graph, GHashTable *paths, uint32_t v)
{
	LodeOccurrencePlace place = {.first_vertex = v, .first_matched = self->matched->len};
	Cover cover;
	double sum = add_paths(&cover, graph, paths, v);

	if (sum > 0) {
		cover_list(&cover, graph, self->matched, NULL);
		place.n_matched = self->matched->len - place.first_matched;
		place.executions = MIN(sum, graph->count[v]);
		self->executions += place.executions;
		self->functions += self->places->len == 0 ||
		                   graph->vertex_graphs[g_array_index(
					   self->places, LodeOccurrencePlace, self->places->len - 1)
								.first_vertex] !=
		                           graph->vertex_graphs[v];
		g_array_append_val(self->places, place);
	}
	g_free(cover.count);
	g_free(cover.elements);
}

LodeOccurrences *naive_occurrences_find(const LodeFlowGraph *graph,
	const LodeMiningParameters *parameters, const uint32_t *items, size_t n_items)
{
	LodeOccurrences *self = g_new0(LodeOccurrences, 1);
	GHashTable *paths = naive_paths_find(graph, parameters, items, n_items);
	Cover cover;

	self->covered = g_array_new(FALSE, FALSE, sizeof(LodeCoveredVertex));
	self->places = g_array_new(FALSE, FALSE, sizeof(LodeOccurrencePlace));
	self->matched = g_array_new(FALSE, FALSE, sizeof(LodeCoveredVertex));
	add_paths(&cover, graph, paths, LODE_NONE);
	cover_list(&cover, graph, self->covered, self);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		add_place(self, graph, paths, v);
	g_free(cover.count);
	g_free(cover.elements);
	g_hash_table_unref(paths);
	return self;
}

void naive_occurrences_free(LodeOccurrences *self)
{
	g_array_unref(self->covered);
	g_array_unref(self->places);
	g_array_unref(self->matched);
	g_free(self);
}
