/* SPDX-License-Identifier: MIT */
/*
 * The search without gaps and windows: an occurrence is a path with one vertex an element, all of
 * them matched, so that a candidate is its last vertex and a parent in the level above.
 */
#include "analyses/mine/searcher.h"

bool lode_paths_start(LodeSearcher *self, LodeLevel *root)
{
	const LodeSearchGraph *graph = self->search->graph;
	uint32_t n = graph->graph->n_vertices;

	self->found_paths.n = self->found_classes.n = 0;
	if (!lode_buffer_reserve(self->search, &self->found_paths, n, sizeof(LodePath)) ||
		!lode_buffer_reserve(self->search, &self->found_classes, n, sizeof(uint32_t)))
		return false;
	for (uint32_t v = 0; v < n; v++) {
		const LodeSearchVertex *vertex = &graph->vertices[v];
		uint32_t class_id = graph->vertex_classes[v];
		if ((graph->is_monotone && !(vertex->count > 0)) || class_id == 0)
			continue;
		LodeGroup *group = lode_level_group_of(self, root, class_id);
		if (group == NULL)
			return false;
		group->n++;
		group->bound_weight += vertex->count > 0 ? vertex->count * vertex->ratio : 0;
		group->bound_count += vertex->count;
		LODE_BUFFER_AT(&self->found_paths, LodePath, self->found_paths.n++) = (LodePath){
			vertex->count, vertex->ratio, LODE_NONE, v, v, false, false};
		LODE_BUFFER_AT(&self->found_classes, uint32_t, self->found_classes.n++) = class_id;
	}
	return lode_level_group(self, root, sizeof(LodePath));
}

/* Whether `vertex` is on the path that ends in candidate `index` of level `depth`. */
static bool is_on_path(
	const LodeSearcher *self, uint32_t depth, const LodePath *path, uint32_t vertex)
{
	while (path->vertex != vertex) {
		if (depth-- == 0)
			return false;
		path = &LODE_BUFFER_AT(
			&lode_searcher_level(self, depth)->candidates, LodePath, path->parent);
	}
	return true;
}

/* Adds the paths one edge longer than candidate `index` of level depth − 1. */
static bool extend_path(LodeSearcher *self, uint32_t depth, uint32_t index)
{
	const LodeSearchGraph *graph = self->search->graph;
	const LodePath *path = &LODE_BUFFER_AT(
		&lode_searcher_level(self, depth - 1)->candidates, LodePath, index);
	uint32_t first = graph->edge_starts[path->vertex];
	uint32_t end = graph->edge_starts[path->vertex + 1];

	if (!lode_buffer_has_room(
		    self->search, &self->found_paths, end - first, sizeof(LodePath)) ||
		!lode_buffer_has_room(
			self->search, &self->found_classes, end - first, sizeof(uint32_t)))
		return false;
	for (uint32_t i = first; i < end; i++) {
		const LodeSearchEdge *edge = &graph->edges[i];
		double count = lode_flow_step(graph->flow, path->count, edge->factor);
		if (!(count > 0) && graph->is_monotone)
			continue;
		double ratio = path->ratio + graph->vertices[edge->target].ratio;
		LodeGroup *group = lode_level_group_of(
			self, &self->levels[depth], edge->vertex_class);
		if (group == NULL)
			return false;
		group->n++;
		group->bound_weight += count > 0 ? count * ratio : 0;
		group->bound_count += count > 0 ? count * (depth + 1) : 0;
		/* Only a way back, to a vertex not behind this one, can lead to a vertex again. */
		bool has_back_edge = path->has_back_edge || edge->target <= path->vertex;
		LODE_BUFFER_AT(&self->found_paths, LodePath, self->found_paths.n++) = (LodePath){
			count, ratio, index, edge->target, path->first,
			path->has_repeat ||
				(has_back_edge && is_on_path(self, depth - 1, path, edge->target)),
			has_back_edge};
		LODE_BUFFER_AT(&self->found_classes, uint32_t,
			self->found_classes.n++) = edge->vertex_class;
	}
	return true;
}

bool lode_paths_extend(LodeSearcher *self, uint32_t depth)
{
	const LodeLevel *above = lode_searcher_level(self, depth - 1);
	const LodePattern *pattern = &LODE_BUFFER_AT(&above->patterns, LodePattern, above->current);
	LodeLevel *level = &self->levels[depth];

	self->found_paths.n = self->found_classes.n = 0;
	level->groups.n = 0;
	if (!lode_level_gather(self, above, pattern))
		return false;
	for (size_t i = 0; i < self->gathered.n; i++)
		if (!extend_path(self, depth, LODE_BUFFER_AT(&self->gathered, uint32_t, i)))
			return false;
	return lode_level_group(self, level, sizeof(LodePath));
}

/* A path with a vertex on it twice adds its count to that vertex once. */
static void sum_repeating(LodeSearcher *self, uint32_t depth, const LodePath *path)
{
	uint32_t seen[64], n = 0;
	double count = path->count;

	for (;;) {
		bool is_new = true;
		for (uint32_t i = 0; i < n && is_new; i++)
			is_new = seen[i] != path->vertex;
		if (is_new && n < G_N_ELEMENTS(seen)) {
			seen[n++] = path->vertex;
			lode_searcher_add(self, path->vertex, count);
		}
		if (depth-- == 0)
			return;
		path = &LODE_BUFFER_AT(
			&lode_searcher_level(self, depth)->candidates, LodePath, path->parent);
	}
}

static void sum_path(LodeSearcher *self, uint32_t depth, const LodePath *path)
{
	double count = path->count;

	if (path->has_repeat) {
		sum_repeating(self, depth, path);
		return;
	}
	lode_searcher_add(self, path->vertex, count);
	while (depth-- > 0) {
		path = &LODE_BUFFER_AT(
			&lode_searcher_level(self, depth)->candidates, LodePath, path->parent);
		lode_searcher_add(self, path->vertex, count);
	}
}

void lode_paths_sum(LodeSearcher *self, uint32_t depth, const LodePattern *pattern)
{
	const LodeLevel *level = lode_searcher_level(self, depth);
	const LodePath *paths = level->candidates.data;

	if (!lode_level_gather(self, level, pattern))
		return;
	const uint32_t *gathered = self->gathered.data;
	for (size_t i = 0; i < self->gathered.n; i++) {
		const LodePath *path = &paths[gathered[i]];
		if (!(path->count > 0))
			continue;
		sum_path(self, depth, path);
		lode_searcher_add_first(self, path->first, path->count);
	}
}
