/* SPDX-License-Identifier: MIT */
/*
 * The search without gaps and windows: an occurrence is a path with one vertex an element, all of
 * them matched.
 */
#include "analyses/mine/searcher.h"

static size_t path_size(uint32_t depth)
{
	size_t size = offsetof(LodePath, vertices) + (depth + 1) * sizeof(uint32_t);

	return (size + _Alignof(LodePath) - 1) & ~(_Alignof(LodePath) - 1);
}

static LodePath *path_at(const LodeLevel *level, size_t index)
{
	return (LodePath *)(void *)((char *)level->candidates.data + index * level->path_size);
}

static bool is_start(const LodeSearch *search, uint32_t vertex)
{
	const LodeSearchGraph *graph = search->graph;

	return graph->vertex_classes[vertex] != 0 &&
	       (!graph->is_monotone || graph->vertices[vertex].count > 0);
}

static bool bound_starts(LodeSearcher *self, LodeLevel *root)
{
	const LodeSearchGraph *graph = self->search->graph;

	for (uint32_t v = 0; v < graph->graph->n_vertices; v++) {
		const LodeSearchVertex *vertex = &graph->vertices[v];
		if (!is_start(self->search, v))
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

static bool fill_starts(LodeSearcher *self, LodeLevel *root)
{
	const LodeSearchGraph *graph = self->search->graph;

	root->is_ordered = true;
	root->path_size = path_size(0);
	if (!lode_level_make_room(self, root, 0, root->path_size))
		return false;
	for (uint32_t v = 0; v < graph->graph->n_vertices; v++) {
		const LodeSearchVertex *vertex = &graph->vertices[v];
		LodeGroup *group = is_start(self->search, v) ? lode_level_wanted_group(self, root,
								       graph->vertex_classes[v])
		                                             : NULL;
		if (group == NULL)
			continue;
		lode_level_add_member(root, group, root->candidates.n);
		LodePath *path = path_at(root, root->candidates.n++);
		*path = (LodePath){vertex->count, vertex->ratio, false, false};
		path->vertices[0] = v;
	}
	lode_level_finish(self, root, 0);
	return true;
}

bool lode_paths_start(LodeSearcher *self, LodeLevel *root)
{
	if (!bound_starts(self, root))
		return false;
	lode_level_mark_passing(self, root);
	return fill_starts(self, root);
}

/* Whether `vertex` is on a path of level `depth`. */
static bool is_on_path(uint32_t depth, const LodePath *path, uint32_t vertex)
{
	for (uint32_t i = 0; i <= depth; i++)
		if (path->vertices[i] == vertex)
			return true;
	return false;
}

/* Adds the paths one edge longer than `path`, of level depth − 1, to the bounds: each at its count
 * on all its vertices, which is the most that it can add to a support. */
static bool bound_path(LodeSearcher *self, uint32_t depth, const LodePath *path)
{
	const LodeSearchGraph *graph = self->search->graph;
	uint32_t last = path->vertices[depth - 1];

	for (uint32_t i = graph->edge_starts[last]; i < graph->edge_starts[last + 1]; i++) {
		const LodeSearchEdge *edge = &graph->edges[i];
		double count = lode_flow_step(graph, path->count, edge->factor);
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
static void fill_path(LodeSearcher *self, uint32_t depth, const LodePath *path)
{
	const LodeSearchGraph *graph = self->search->graph;
	LodeLevel *level = &self->levels[depth];
	uint32_t last = path->vertices[depth - 1];

	for (uint32_t i = graph->edge_starts[last]; i < graph->edge_starts[last + 1]; i++) {
		const LodeSearchEdge *edge = &graph->edges[i];
		double count = lode_flow_step(graph, path->count, edge->factor);
		if (!(count > 0) && graph->is_monotone)
			continue;
		LodeGroup *group = lode_level_wanted_group(self, level, edge->vertex_class);
		if (group == NULL)
			continue;
		/* Only a way back, to a vertex not after this one, can lead to a vertex again. */
		bool has_back_edge = path->has_back_edge || edge->target <= last;
		bool has_repeat = path->has_repeat ||
		                  (has_back_edge && is_on_path(depth - 1, path, edge->target));
		lode_level_add_member(level, group, level->candidates.n);
		LodePath *longer = path_at(level, level->candidates.n++);
		*longer = (LodePath){count, path->ratio + edge->ratio, has_repeat, has_back_edge};
		/* Faster than a call where there are few. */
		for (uint32_t j = 0; j < depth; j++)
			longer->vertices[j] = path->vertices[j];
		longer->vertices[depth] = edge->target;
	}
}

/* Asks for the edges after a path that comes soon, and for what says where those of a later one
 * are, and for a still later path. */
static void read_edges_ahead(
	const LodeSearcher *self, uint32_t depth, const LodeLevel *above, size_t index)
{
	const LodeSearchGraph *graph = self->search->graph;
	const uint32_t *ahead = (const uint32_t *)self->gathered.data + index;

	if (index + 3 * LODE_READ_AHEAD >= self->gathered.n)
		return;
	lode_prefetch(path_at(above, ahead[3 * LODE_READ_AHEAD]));
	lode_prefetch(&graph->edge_starts[path_at(above, ahead[2 * LODE_READ_AHEAD])
						  ->vertices[depth - 1]]);
	lode_prefetch(&graph->edges[graph->edge_starts[path_at(above, ahead[LODE_READ_AHEAD])
							       ->vertices[depth - 1]]]);
}

static bool bound_paths(LodeSearcher *self, uint32_t depth)
{
	const LodeLevel *above = lode_searcher_level(self, depth - 1);
	const LodePattern *pattern = &LODE_BUFFER_AT(&above->patterns, LodePattern, above->current);
	LodeLevel *level = &self->levels[depth];

	level->groups.n = level->candidates.n = level->members.n = 0;
	level->path_size = path_size(depth);
	if (!lode_level_gather(self, above, pattern))
		return false;
	level->is_ordered = self->is_in_order;
	const uint32_t *gathered = self->gathered.data;
	for (size_t i = 0; i < self->gathered.n; i++) {
		read_edges_ahead(self, depth, above, i);
		if (!bound_path(self, depth, path_at(above, gathered[i])))
			return false;
	}
	return true;
}

static bool fill_paths(LodeSearcher *self, uint32_t depth)
{
	const LodeLevel *above = lode_searcher_level(self, depth - 1);
	LodeLevel *level = &self->levels[depth];

	if (!lode_level_make_room(self, level, 0, level->path_size))
		return false;
	const uint32_t *gathered = self->gathered.data;
	for (size_t i = 0; i < self->gathered.n && level->members.n > 0; i++) {
		read_edges_ahead(self, depth, above, i);
		fill_path(self, depth, path_at(above, gathered[i]));
	}
	lode_level_finish(self, level, 0);
	return true;
}

bool lode_paths_extend(LodeSearcher *self, uint32_t depth)
{
	if (!bound_paths(self, depth))
		return false;
	lode_level_mark_passing(self, &self->levels[depth]);
	return fill_paths(self, depth);
}

/* A path with a vertex on it twice adds its count to that vertex once. */
static void sum_repeating(LodeVertexSums *sums, uint32_t depth, const LodePath *path)
{
	for (uint32_t i = depth + 1; i-- > 0;) {
		bool is_new = true;
		for (uint32_t later = i + 1; later <= depth && is_new; later++)
			is_new = path->vertices[later] != path->vertices[i];
		if (is_new)
			lode_vertex_sums_add(sums, path->vertices[i], path->count);
	}
}

/* Asks for a path that comes soon, and for what is added to and read at the ends of a sooner one:
 * most are at neighbours. */
static void read_sums_ahead(
	const LodeSearcher *self, uint32_t depth, const LodeLevel *level, size_t index)
{
	const LodeSearchVertex *vertices = self->search->graph->vertices;
	const uint32_t *ahead = (const uint32_t *)self->gathered.data + index;

	if (index + 3 * LODE_READ_AHEAD >= self->gathered.n)
		return;
	const LodePath *near = path_at(level, ahead[LODE_READ_AHEAD]);
	lode_prefetch(path_at(level, ahead[3 * LODE_READ_AHEAD]));
	lode_prefetch(&self->matched.sums[near->vertices[depth]]);
	lode_prefetch(&vertices[near->vertices[depth]]);
	lode_prefetch(&self->firsts.sums[near->vertices[0]]);
}

/* Adds up the paths that begin before `end`, from one on; the first of the others. */
static size_t sum_paths(
	LodeSearcher *self, uint32_t depth, const LodeLevel *level, size_t first, uint32_t end)
{
	const uint32_t *gathered = self->gathered.data;
	/* Copies, which can be in registers. */
	LodeVertexSums matched = self->matched, firsts = self->firsts;
	size_t i;

	for (i = first; i < self->gathered.n; i++) {
		const LodePath *path = path_at(level, gathered[i]);
		if (path->vertices[0] >= end)
			break;
		read_sums_ahead(self, depth, level, i);
		if (!(path->count > 0))
			continue;
		if (path->has_repeat)
			sum_repeating(&matched, depth, path);
		else
			for (uint32_t j = depth + 1; j-- > 0;)
				lode_vertex_sums_add(&matched, path->vertices[j], path->count);
		lode_vertex_sums_add(&firsts, path->vertices[0], path->count);
	}
	self->matched.n = matched.n;
	self->firsts.n = firsts.n;
	return i;
}

void lode_paths_sum(LodeSearcher *self, uint32_t depth, const LodePattern *pattern)
{
	const LodeLevel *level = lode_searcher_level(self, depth);

	if (!lode_level_gather(self, level, pattern))
		return;
	for (size_t i = 0; i < self->gathered.n;) {
		uint32_t first =
			path_at(level, LODE_BUFFER_AT(&self->gathered, uint32_t, i))->vertices[0];
		i = sum_paths(self, depth, level, i,
			self->is_in_order ? lode_searcher_block_end(self, first) : UINT32_MAX);
		lode_sums_take(self);
	}
}
