/* SPDX-License-Identifier: MIT */
/*
 * The search with gaps or windows. One path can hold an occurrence in several ways (other gaps,
 * other cuts between windows); it counts once, and its matched vertices are those of all ways. So
 * paths are nodes, found again by the hash of their vertices, and a candidate is a node with one
 * way of matching it.
 *
 *   prefix occurrence ──▶ 0 … g gap vertices ──▶ window of 1 … w+1 vertices = candidate
 */
#include "analyses/mine/searcher.h"

#include <string.h>

static const LodePathNode *node_at(const LodeSearcher *self, uint32_t index)
{
	size_t n_root = self->search->root_nodes.n;

	return index < n_root ? &LODE_BUFFER_AT(&self->search->root_nodes, LodePathNode, index)
	                      : &LODE_BUFFER_AT(&self->nodes, LodePathNode, index - n_root);
}

static uint64_t hash_step(uint64_t hash, uint32_t vertex)
{
	hash = (hash ^ (vertex + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ (hash >> 29);
}

static bool is_same_path(const LodeSearcher *self, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (a == LODE_NONE || b == LODE_NONE)
			return false;
		const LodePathNode *left = node_at(self, a), *right = node_at(self, b);
		if (left->vertex != right->vertex || left->length != right->length)
			return false;
		a = left->parent;
		b = right->parent;
	}
	return true;
}

static bool grow_table(LodeSearcher *self)
{
	LodeBuffer *table = &self->node_table;
	size_t capacity = MAX(table->n * 2, 256);

	if (!lode_buffer_reserve(self->search, table, capacity, sizeof(uint32_t)))
		return false;
	uint32_t *slots = table->data;
	size_t first = self->level_nodes;
	memset(slots, 0xff, capacity * sizeof(uint32_t));
	table->n = capacity;
	for (size_t i = first; i < self->nodes.n; i++) {
		uint64_t hash = LODE_BUFFER_AT(&self->nodes, LodePathNode, i).hash;
		size_t at = hash & (capacity - 1);
		while (slots[at] != LODE_NONE)
			at = (at + 1) & (capacity - 1);
		slots[at] = (uint32_t)(i + self->search->root_nodes.n);
	}
	return true;
}

static uint32_t push_node(LodeSearcher *self, const LodePathNode *node)
{
	if (!lode_buffer_has_room(self->search, &self->nodes, 1, sizeof(LodePathNode)))
		return LODE_NONE;
	LODE_BUFFER_AT(&self->nodes, LodePathNode, self->nodes.n) = *node;
	return (uint32_t)(self->nodes.n++ + self->search->root_nodes.n);
}

/* The node of the path `parent` + edge's target, made when new; LODE_NONE: no memory. */
static uint32_t step(LodeSearcher *self, uint32_t parent, const LodeSearchEdge *edge, double count)
{
	const LodePathNode *from = node_at(self, parent);
	LodePathNode node = {
		.hash = hash_step(from->hash, edge->target),
		.count = count,
		.ratio = from->ratio + self->search->graph->vertices[edge->target].ratio,
		.parent = parent,
		.vertex = edge->target,
		.length = from->length + 1,
		.slot = LODE_NONE,
	};

	if (!self->may_repeat)
		return push_node(self, &node);
	if ((self->nodes.n - self->level_nodes + 1) * 2 > self->node_table.n && !grow_table(self))
		return LODE_NONE;
	uint32_t *slots = self->node_table.data;
	size_t mask = self->node_table.n - 1, at = node.hash & mask;
	for (; slots[at] != LODE_NONE; at = (at + 1) & mask) {
		const LodePathNode *known = node_at(self, slots[at]);
		if (known->hash == node.hash && known->vertex == node.vertex &&
			known->length == node.length && is_same_path(self, known->parent, parent))
			return slots[at];
	}
	return slots[at] = push_node(self, &node);
}

static bool add_candidate(
	LodeSearcher *self, LodeLevel *level, uint32_t index, uint64_t matched, uint32_t class_id)
{
	const LodePathNode *node = node_at(self, index);

	if (class_id == 0)
		return true; /* no element is minimal in this window */
	LodeGroup *group = lode_level_group_of(self, level, class_id);
	if (group == NULL ||
		!lode_buffer_has_room(
			self->search, &self->found_paths, 1, sizeof(LodeWindowPath)) ||
		!lode_buffer_has_room(self->search, &self->found_classes, 1, sizeof(uint32_t)))
		return false;
	group->n++;
	group->bound_weight += node->count > 0 ? node->count * node->ratio : 0;
	group->bound_count += node->count > 0 ? node->count * node->length : 0;
	LODE_BUFFER_AT(&self->found_paths, LodeWindowPath,
		self->found_paths.n++) = (LodeWindowPath){matched, index, class_id};
	LODE_BUFFER_AT(&self->found_classes, uint32_t, self->found_classes.n++) = class_id;
	return true;
}

/* A window under way: its node, the list of its vertices' classes, what is matched so far. */
typedef struct {
	uint64_t matched;
	uint32_t node, list, n;
} Window;

/* Adds the window as a candidate, and all longer ones. */
static bool add_windows(LodeSearcher *self, LodeLevel *level, Window window)
{
	const LodeSearchGraph *graph = self->search->graph;
	const LodePathNode node = *node_at(self, window.node);

	window.matched |= UINT64_C(1) << (node.length - 1);
	if (!add_candidate(self, level, window.node, window.matched,
		    lode_search_graph_list_class(graph, window.list)))
		return false;
	if (window.n > self->window)
		return true;
	for (uint32_t i = graph->edge_starts[node.vertex]; i < graph->edge_starts[node.vertex + 1];
		i++) {
		const LodeSearchEdge *edge = &graph->edges[i];
		double count = lode_flow_step(graph->flow, node.count, edge->factor);
		if (!(count > 0) && graph->is_monotone)
			continue;
		Window longer = {window.matched, step(self, window.node, edge, count),
			window.n == 1 ? lode_search_graph_edge_list(graph, i)
				      : lode_search_graph_longer_list(
						graph, window.list, edge->vertex_class),
			window.n + 1};
		if (longer.node == LODE_NONE || !add_windows(self, level, longer))
			return false;
	}
	return true;
}

/* From the end of a prefix occurrence: gaps, and a window behind each. */
static bool extend_node(
	LodeSearcher *self, LodeLevel *level, uint32_t index, uint64_t matched, uint32_t gaps_left)
{
	const LodeSearchGraph *graph = self->search->graph;
	const LodePathNode node = *node_at(self, index);

	for (uint32_t i = graph->edge_starts[node.vertex]; i < graph->edge_starts[node.vertex + 1];
		i++) {
		const LodeSearchEdge *edge = &graph->edges[i];
		double count = lode_flow_step(graph->flow, node.count, edge->factor);
		if (!(count > 0) && graph->is_monotone)
			continue;
		uint32_t next = step(self, index, edge, count);
		if (next == LODE_NONE)
			return false;
		/* A vertex without items cannot begin a minimal window. */
		if (edge->vertex_class != 0 &&
			!add_windows(self, level, (Window){matched, next, edge->vertex_class, 1}))
			return false;
		if (gaps_left > 0 && !extend_node(self, level, next, matched, gaps_left - 1))
			return false;
	}
	return true;
}

bool lode_windows_start(LodeSearcher *self, LodeLevel *root)
{
	const LodeSearchGraph *graph = self->search->graph;

	self->found_paths.n = self->found_classes.n = 0;
	self->may_repeat = false;
	self->window = self->search->parameters->window;
	for (uint32_t v = 0; v < graph->graph->n_vertices; v++) {
		LodePathNode node = {
			.hash = hash_step(0, v),
			.count = graph->vertices[v].count,
			.ratio = graph->vertices[v].ratio,
			.parent = LODE_NONE,
			.vertex = v,
			.length = 1,
			.slot = LODE_NONE,
		};
		if ((graph->is_monotone && !(node.count > 0)) || graph->vertex_classes[v] == 0)
			continue;
		if (!lode_buffer_has_room(self->search, &self->nodes, 1, sizeof(node)))
			return false;
		LODE_BUFFER_AT(&self->nodes, LodePathNode, self->nodes.n++) = node;
		if (!add_windows(self, root,
			    (Window){0, (uint32_t)self->nodes.n - 1, graph->vertex_classes[v], 1}))
			return false;
	}
	if (!lode_level_group(self, root, sizeof(LodeWindowPath)))
		return false;
	self->search->root_nodes = self->nodes;
	self->nodes = (LodeBuffer){0};
	return true;
}

/*
 * Gathers the paths of a pattern, each once, with all that is matched on it in any way. The slot of
 * a node is where it was put last; it is believed only when it is there.
 */
static bool gather(LodeSearcher *self, uint32_t depth, const LodePattern *pattern)
{
	const LodeLevel *level = lode_searcher_level(self, depth);
	const LodeWindowPath *candidates = level->candidates.data;
	size_t n_root = self->search->root_nodes.n, n = 0;

	if (!lode_level_gather(self, level, pattern) ||
		!lode_buffer_reserve(
			self->search, &self->occurrences, self->gathered.n, sizeof(LodeWindowPath)))
		return false;
	const uint32_t *gathered = self->gathered.data;
	LodeWindowPath *out = self->occurrences.data;
	for (size_t i = 0; i < self->gathered.n; i++) {
		const LodeWindowPath *path = &candidates[gathered[i]];
		/* In the root no two candidates have the same path. */
		if (path->node < n_root) {
			out[n++] = *path;
			continue;
		}
		LodePathNode *node = &LODE_BUFFER_AT(
			&self->nodes, LodePathNode, path->node - n_root);
		if (node->slot < n && out[node->slot].node == path->node) {
			out[node->slot].matched |= path->matched;
			continue;
		}
		node->slot = (uint32_t)n;
		out[n++] = *path;
	}
	self->occurrences.n = n;
	return true;
}

/*
 * Without gaps, paths of one length extend to paths that are all different: one that ends a vertex
 * later can only be met again from a prefix that is a vertex longer.
 */
static bool have_same_length(const LodeSearcher *self)
{
	const LodeWindowPath *paths = self->occurrences.data;

	for (size_t i = 1; i < self->occurrences.n; i++)
		if (node_at(self, paths[i].node)->length != node_at(self, paths[0].node)->length)
			return false;
	return true;
}

bool lode_windows_extend(LodeSearcher *self, uint32_t depth, uint32_t max_size)
{
	const LodeLevel *above = lode_searcher_level(self, depth - 1);
	const LodePattern *pattern = &LODE_BUFFER_AT(&above->patterns, LodePattern, above->current);
	LodeLevel *level = &self->levels[depth];

	self->found_paths.n = self->found_classes.n = 0;
	level->groups.n = 0;
	self->level_nodes = self->nodes.n;
	self->node_table.n = 0;
	/* One item alone is in no longer window that is minimal. */
	self->window = max_size > 1 ? self->search->parameters->window : 0;
	if (!gather(self, depth - 1, pattern))
		return false;
	self->may_repeat = self->search->parameters->gap > 0 || !have_same_length(self);
	for (size_t i = 0; i < self->occurrences.n; i++) {
		LodeWindowPath path = LODE_BUFFER_AT(&self->occurrences, LodeWindowPath, i);
		if (!extend_node(
			    self, level, path.node, path.matched, self->search->parameters->gap))
			return false;
	}
	return lode_level_group(self, level, sizeof(LodeWindowPath));
}

static void sum_occurrence(LodeSearcher *self, const LodeWindowPath *path)
{
	uint32_t seen[64], n = 0, first = 0;
	double count = node_at(self, path->node)->count;

	for (uint32_t index = path->node; index != LODE_NONE;) {
		const LodePathNode *node = node_at(self, index);
		bool is_new = (path->matched >> (node->length - 1) & 1) != 0;
		for (uint32_t i = 0; i < n && is_new; i++)
			is_new = seen[i] != node->vertex;
		if (is_new) {
			seen[n++] = node->vertex;
			lode_searcher_add(self, node->vertex, count);
		}
		first = node->vertex;
		index = node->parent;
	}
	lode_searcher_add_first(self, first, count);
}

void lode_windows_sum(LodeSearcher *self, uint32_t depth, const LodePattern *pattern)
{
	if (!gather(self, depth, pattern))
		return;
	for (size_t i = 0; i < self->occurrences.n; i++) {
		const LodeWindowPath *path = &LODE_BUFFER_AT(&self->occurrences, LodeWindowPath, i);
		if (node_at(self, path->node)->count > 0)
			sum_occurrence(self, path);
	}
}
