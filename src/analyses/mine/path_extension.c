/* SPDX-License-Identifier: MIT */
/*
 * The search without gaps and windows: an occurrence is a path with one vertex an element, all of
 * them matched, so that a candidate is its last vertex and a parent in the level above.
 */
#include "analyses/mine/searcher.h"

static bool is_start(const LodeSearchGraph *graph, uint32_t vertex)
{
	return graph->vertex_classes[vertex] != 0 &&
	       (!graph->is_monotone || graph->vertices[vertex].count > 0);
}

static bool bound_starts(LodeSearcher *self, LodeLevel *root)
{
	const LodeSearchGraph *graph = self->search->graph;

	for (uint32_t v = 0; v < graph->graph->n_vertices; v++) {
		const LodeSearchVertex *vertex = &graph->vertices[v];
		if (!is_start(graph, v))
			continue;
		LodeGroup *group = lode_level_group_of(self, root, graph->vertex_classes[v]);
		if (group == NULL)
			return false;
		group->n++;
		group->bound_weight += vertex->count > 0 ? vertex->count * vertex->ratio : 0;
		group->bound_count += vertex->count;
	}
	return true;
}

bool lode_paths_start(LodeSearcher *self, LodeLevel *root)
{
	const LodeSearchGraph *graph = self->search->graph;

	if (!bound_starts(self, root))
		return false;
	lode_level_want_passing(self, root);
	if (!lode_level_make_room(self, root, 0, sizeof(LodePath)))
		return false;
	for (uint32_t v = 0; v < graph->graph->n_vertices; v++) {
		const LodeSearchVertex *vertex = &graph->vertices[v];
		LodeGroup *group = is_start(graph, v) ? lode_level_wanted_group(self, root,
								graph->vertex_classes[v])
		                                      : NULL;
		if (group == NULL)
			continue;
		lode_level_add_member(root, group, root->candidates.n);
		LODE_BUFFER_AT(&root->candidates, LodePath, root->candidates.n++) = (LodePath){
			vertex->count, vertex->ratio, LODE_NONE, v, v, false, false};
	}
	lode_level_finish(self, root, 0);
	return true;
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

/* Adds the paths one edge longer than `path`, of level depth − 1, to the bounds: each at its count
 * on all its vertices, which is the most that it can add to a support. */
static bool bound_path(LodeSearcher *self, uint32_t depth, const LodePath *path)
{
	const LodeSearchGraph *graph = self->search->graph;
	uint32_t end = graph->edge_starts[path->vertex + 1];

	for (uint32_t i = graph->edge_starts[path->vertex]; i < end; i++) {
		const LodeSearchEdge *edge = &graph->edges[i];
		double count = lode_flow_step(graph->flow, path->count, edge->factor);
		if (!(count > 0) && graph->is_monotone)
			continue;
		double ratio = path->ratio + edge->ratio;
		LodeGroup *group = lode_level_group_of(
			self, &self->levels[depth], edge->vertex_class);
		if (group == NULL)
			return false;
		group->n++;
		group->bound_weight += count > 0 ? count * ratio : 0;
		group->bound_count += count > 0 ? count * (depth + 1) : 0;
	}
	return true;
}

/* Adds those of them that are wanted as candidates. */
static void fill_path(LodeSearcher *self, uint32_t depth, const LodePath *path, uint32_t index)
{
	const LodeSearchGraph *graph = self->search->graph;
	LodeLevel *level = &self->levels[depth];
	uint32_t end = graph->edge_starts[path->vertex + 1];

	for (uint32_t i = graph->edge_starts[path->vertex]; i < end; i++) {
		const LodeSearchEdge *edge = &graph->edges[i];
		double count = lode_flow_step(graph->flow, path->count, edge->factor);
		if (!(count > 0) && graph->is_monotone)
			continue;
		LodeGroup *group = lode_level_wanted_group(self, level, edge->vertex_class);
		if (group == NULL)
			continue;
		/* Only a way back, to a vertex not after this one, can lead to a vertex again. */
		bool has_back_edge = path->has_back_edge || edge->target <= path->vertex;
		bool has_repeat = path->has_repeat ||
		                  (has_back_edge &&
					  is_on_path(self, depth - 1, path, edge->target));
		lode_level_add_member(level, group, level->candidates.n);
		LODE_BUFFER_AT(&level->candidates, LodePath, level->candidates.n++) = (LodePath){
			count, path->ratio + edge->ratio, index, edge->target, path->first,
			has_repeat, has_back_edge};
	}
}

bool lode_paths_extend(LodeSearcher *self, uint32_t depth)
{
	const LodeLevel *above = lode_searcher_level(self, depth - 1);
	const LodePattern *pattern = &LODE_BUFFER_AT(&above->patterns, LodePattern, above->current);
	const LodePath *paths = above->candidates.data;
	LodeLevel *level = &self->levels[depth];

	level->groups.n = level->candidates.n = level->members.n = 0;
	if (!lode_level_gather(self, above, pattern))
		return false;
	const uint32_t *gathered = self->gathered.data;
	for (size_t i = 0; i < self->gathered.n; i++)
		if (!bound_path(self, depth, &paths[gathered[i]]))
			return false;
	lode_level_want_passing(self, level);
	if (!lode_level_make_room(self, level, 0, sizeof(LodePath)))
		return false;
	for (size_t i = 0; i < self->gathered.n && level->members.n > 0; i++)
		fill_path(self, depth, &paths[gathered[i]], gathered[i]);
	lode_level_finish(self, level, 0);
	return true;
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
			lode_vertex_sums_add(&self->matched, path->vertex, count);
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
	lode_vertex_sums_add(&self->matched, path->vertex, count);
	while (depth-- > 0) {
		path = &LODE_BUFFER_AT(
			&lode_searcher_level(self, depth)->candidates, LodePath, path->parent);
		lode_vertex_sums_add(&self->matched, path->vertex, count);
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
		lode_vertex_sums_add(&self->firsts, path->first, path->count);
	}
}
