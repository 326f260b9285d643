/* SPDX-License-Identifier: MIT */
/*
 * The search with gaps or windows. One path can hold an occurrence in several ways (other gaps,
 * other cuts between windows); it counts once, and its matched vertices are those of all ways. So a
 * candidate is a path with one way of matching it, and knows which candidate has the same path.
 *
 *   prefix occurrence ──▶ 0 … g gap vertices ──▶ window of 1 … w+1 vertices = candidate
 */
#include "analyses/mine/searcher.h"

#include "base/hash.h"

#include <string.h>

static size_t path_size(uint32_t n_vertices)
{
	size_t size = sizeof(LodeWindowPath) + n_vertices * sizeof(uint32_t);

	return (size + _Alignof(LodeWindowPath) - 1) & ~(_Alignof(LodeWindowPath) - 1);
}

static LodeWindowPath *path_at(const LodeBuffer *paths, size_t size, size_t index)
{
	return (LodeWindowPath *)(void *)((char *)paths->data + index * size);
}

static uint64_t hash_vertices(const uint32_t *vertices, uint32_t n)
{
	uint64_t hash = n;

	for (uint32_t i = 0; i < n; i++)
		hash = lode_hash_append(hash, vertices[i]);
	return hash;
}

/* The vertex that a walk stands at, the last of the walk's vertices. */
typedef struct {
	double count, ratio;
	uint32_t vertex, length;
	bool has_back_edge;
} Step;

/* A walk over all candidates of a level: the first for their bounds, the second to keep them. */
typedef struct {
	LodeSearcher *searcher;
	LodeLevel *level;
	uint32_t shortest, longest; /* vertices of the windows looked for */
	bool is_filling;
	uint32_t vertices[64]; /* of the path so far */
} Walk;

/* A window under way: what is matched on its path, its class, the list of its vertices' classes. */
typedef struct {
	uint64_t matched;
	uint32_t class_id, list, n;
} Window;

/* False where no counted path goes. */
static bool take_step(Walk *walk, const Step *before, const LodeSearchEdge *edge, Step *out)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;
	double count = lode_flow_step(graph->flow, before->count, edge->factor);

	if (!(count > 0) && graph->is_monotone)
		return false;
	*out = (Step){
		.count = count,
		.ratio = before->ratio + edge->ratio,
		.vertex = edge->target,
		.length = before->length + 1,
		.has_back_edge = before->has_back_edge || edge->target <= before->vertex,
	};
	walk->vertices[before->length] = edge->target;
	return true;
}

/*
 * Adds the most that the path can add to a support: its count at every vertex of it, matched or
 * not. That docs/mining.md §3 cuts the sum of a vertex off at its executions only lowers a support.
 */
static bool bound_candidate(const Walk *walk, const Step *step, uint32_t class_id)
{
	LodeGroup *group = lode_level_group_of(walk->searcher, walk->level, class_id);

	if (group == NULL)
		return false;
	group->n++;
	group->bound_weight += step->count > 0 ? step->count * step->ratio : 0;
	group->bound_count += step->count > 0 ? step->count * step->length : 0;
	return true;
}

/* The slot of the path table that has the path, or that it has to go to. */
static uint32_t *find_slot(const Walk *walk, const uint32_t *vertices, uint32_t length)
{
	const LodeLevel *level = walk->level;
	uint32_t *slots = walk->searcher->path_table.data;
	size_t mask = walk->searcher->path_table.n - 1;
	size_t at = hash_vertices(vertices, length) & mask;

	for (; slots[at] != LODE_NONE; at = (at + 1) & mask) {
		const LodeWindowPath *known = path_at(
			&level->candidates, level->path_size, slots[at]);
		if (known->length == length &&
			memcmp(known->vertices, vertices, length * sizeof(uint32_t)) == 0)
			break;
	}
	return &slots[at];
}

/* An empty table for `n` paths, and in it those that the level has. */
static bool start_table(Walk *walk, size_t n)
{
	LodeBuffer *table = &walk->searcher->path_table;
	const LodeLevel *level = walk->level;

	table->n = (size_t)1 << g_bit_storage(2 * n + 1);
	if (!lode_buffer_reserve(walk->searcher->search, table, table->n, sizeof(uint32_t)))
		return false;
	memset(table->data, 0xff, table->n * sizeof(uint32_t));
	for (size_t i = 0; i < level->candidates.n; i++) {
		const LodeWindowPath *path = path_at(&level->candidates, level->path_size, i);
		*find_slot(walk, path->vertices, path->length) = path->path;
	}
	return true;
}

static void fill_candidate(const Walk *walk, const Step *step, uint64_t matched, uint32_t class_id)
{
	LodeLevel *level = walk->level;
	LodeGroup *group = lode_level_wanted_group(walk->searcher, level, class_id);

	if (group == NULL)
		return;
	uint32_t index = (uint32_t)lode_level_add_member(level, group), same = index;
	if (level->may_repeat) {
		uint32_t *slot = find_slot(walk, walk->vertices, step->length);
		same = *slot != LODE_NONE ? *slot : (*slot = index);
	}
	LodeWindowPath *path = path_at(&level->candidates, level->path_size, index);
	*path = (LodeWindowPath){step->count, step->ratio, matched, same, (uint16_t)step->length,
		step->has_back_edge};
	memcpy(path->vertices, walk->vertices, step->length * sizeof(uint32_t));
}

/* Meets the window, if it is long enough; no element is minimal in class 0. */
static bool meet_window(const Walk *walk, const Step *step, const Window *window)
{
	if (window->class_id == 0 || window->n < walk->shortest)
		return true;
	if (!walk->is_filling)
		return bound_candidate(walk, step, window->class_id);
	fill_candidate(walk, step, window->matched, window->class_id);
	return true;
}

/* The window that is one edge longer. A window of two vertices is looked up by the number
 * of its edge, only a longer one by a hash. */
static Window lengthen(const LodeSearchGraph *graph, const Window *window, uint32_t edge)
{
	uint32_t list = lode_search_graph_edge_list(graph, edge);
	uint32_t class_id = graph->edges[edge].window_class;

	if (window->n > 1) {
		list = lode_search_graph_longer_list(
			graph, window->list, graph->edges[edge].vertex_class);
		class_id = lode_search_graph_list_class(graph, list);
	}
	return (Window){window->matched, class_id, list, window->n + 1};
}

/* Meets the window that ends in `step`, and all longer ones. */
static bool meet_windows(Walk *walk, const Step *step, Window window)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;
	uint32_t end = graph->edge_starts[step->vertex + 1];

	window.matched |= UINT64_C(1) << (step->length - 1);
	if (!meet_window(walk, step, &window))
		return false;
	if (window.n == walk->longest)
		return true;
	for (uint32_t i = graph->edge_starts[step->vertex]; i < end; i++) {
		Step next;
		if (take_step(walk, step, &graph->edges[i], &next) &&
			!meet_windows(walk, &next, lengthen(graph, &window, i)))
			return false;
	}
	return true;
}

static Window first_window(uint64_t matched, uint32_t vertex_class)
{
	return (Window){matched, vertex_class, vertex_class, 1};
}

/* From the end of a prefix occurrence: gaps, and a window after each. */
static bool walk_from(Walk *walk, const Step *step, uint64_t matched, uint32_t gaps_left)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;
	uint32_t end = graph->edge_starts[step->vertex + 1];

	for (uint32_t i = graph->edge_starts[step->vertex]; i < end; i++) {
		const LodeSearchEdge *edge = &graph->edges[i];
		Step next;
		if (!take_step(walk, step, edge, &next))
			continue;
		/* A vertex without items cannot begin a minimal window. */
		if (edge->vertex_class != 0 &&
			!meet_windows(walk, &next, first_window(matched, edge->vertex_class)))
			return false;
		if (gaps_left > 0 && !walk_from(walk, &next, matched, gaps_left - 1))
			return false;
	}
	return true;
}

static bool walk_starts(Walk *walk)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;

	for (uint32_t v = 0; v < graph->graph->n_vertices; v++) {
		const LodeSearchVertex *vertex = &graph->vertices[v];
		uint32_t class_id = graph->vertex_classes[v];
		Step step = {vertex->count, vertex->ratio, v, 1, false};
		walk->vertices[0] = v;
		if (class_id != 0 && (!graph->is_monotone || vertex->count > 0) &&
			!meet_windows(walk, &step, first_window(0, class_id)))
			return false;
	}
	return true;
}

static uint32_t last_vertex(const LodeWindowPath *path)
{
	return path->vertices[path->length - 1];
}

/* Asks for the edges after a path that comes soon: `near` sooner than `far`. */
static void read_edges_ahead(
	const LodeSearchGraph *graph, const LodeWindowPath *far, const LodeWindowPath *near)
{
	__builtin_prefetch(&graph->edge_starts[last_vertex(far)]);
	__builtin_prefetch(&graph->edges[graph->edge_starts[last_vertex(near)]]);
}

static bool walk_prefix(Walk *walk, const LodeWindowPath *prefix)
{
	Step step = {prefix->count, prefix->ratio, last_vertex(prefix), prefix->length,
		prefix->has_back_edge};

	memcpy(walk->vertices, prefix->vertices, prefix->length * sizeof(uint32_t));
	return walk_from(walk, &step, prefix->matched, walk->searcher->search->parameters->gap);
}

static bool walk_prefixes(Walk *walk)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;
	const LodeBuffer *prefixes = &walk->level->prefixes;
	size_t size = walk->level->prefix_size;

	for (size_t i = 0; i < prefixes->n; i++) {
		if (i + 2 * LODE_READ_AHEAD < prefixes->n)
			read_edges_ahead(graph, path_at(prefixes, size, i + 2 * LODE_READ_AHEAD),
				path_at(prefixes, size, i + LODE_READ_AHEAD));
		if (!walk_prefix(walk, path_at(prefixes, size, i)))
			return false;
	}
	return true;
}

/* The candidate that is member `index` of its level. */
static const LodeWindowPath *member_at(const LodeLevel *level, size_t index)
{
	return path_at(&level->candidates, level->path_size,
		LODE_BUFFER_AT(&level->members, uint32_t, index));
}

/* With windows of one vertex only: an element begins with one item, which is in no minimal window
 * of several vertices. */
bool lode_windows_bound_next(LodeSearcher *self, const LodeGroup *group)
{
	LodeLevel *next = &self->levels[1];
	const LodeLevel *root = self->root;
	Walk walk = {self, next, 1, 1, false, {0}};
	bool is_ok = true;

	next->groups.n = next->candidates.n = 0;
	for (size_t i = group->first; i < group->first + group->n && is_ok; i++) {
		if (i + 3 * LODE_READ_AHEAD < root->members.n) {
			__builtin_prefetch(member_at(root, i + 3 * LODE_READ_AHEAD));
			read_edges_ahead(self->search->graph,
				member_at(root, i + 2 * LODE_READ_AHEAD),
				member_at(root, i + LODE_READ_AHEAD));
		}
		is_ok = walk_prefix(&walk, member_at(root, i));
	}
	lode_level_bound_items(self, next);
	lode_level_finish(self, next, 0);
	return is_ok;
}

/* Walks a second time, for the candidates of the wanted groups from `first_group` on. */
static bool fill(Walk *walk, bool (*walk_all)(Walk *), size_t first_group)
{
	LodeLevel *level = walk->level;
	size_t n;

	walk->is_filling = true;
	if (!lode_level_make_room(walk->searcher, level, first_group, level->path_size, &n) ||
		(level->may_repeat && !start_table(walk, n)))
		return false;
	/* Often nothing more is wanted, and the second walk is saved. */
	bool is_ok = n == level->candidates.n || walk_all(walk);
	lode_level_finish(walk->searcher, level, first_group);
	return is_ok;
}

bool lode_windows_start(LodeSearcher *self, LodeLevel *root)
{
	Walk walk = {self, root, 1, self->search->parameters->window + 1, false, {0}};

	root->path_size = path_size(walk.longest);
	if (!walk_starts(&walk))
		return false;
	lode_level_want_passing(self, root);
	return fill(&walk, walk_starts, 0);
}

/*
 * Drops paths that occur twice, joining what is matched on them: a path counts once, however many
 * ways there are to match it (docs/mining.md §2). A slot says where a path was put last, and is
 * compared with what is there.
 */
static bool join_repeated(LodeSearcher *self, const LodeLevel *level, LodeBuffer *paths)
{
	size_t n = 0, size = level->path_size;

	if (!lode_buffer_reserve(
		    self->search, &self->path_slots, level->candidates.n, sizeof(uint32_t)))
		return false;
	memset(self->path_slots.data, 0, level->candidates.n * sizeof(uint32_t));
	for (size_t i = 0; i < paths->n; i++) {
		const LodeWindowPath *path = path_at(paths, size, i);
		uint32_t *slot = &LODE_BUFFER_AT(&self->path_slots, uint32_t, path->path);
		LodeWindowPath *known = path_at(paths, size, *slot);
		if (*slot < n && known->path == path->path) {
			known->matched |= path->matched;
			continue;
		}
		*slot = (uint32_t)n;
		memmove(path_at(paths, size, n++), path, size);
	}
	paths->n = n;
	return true;
}

/* Gathers the paths of a pattern, each once, with all that is matched on it in any way. */
static bool gather(
	LodeSearcher *self, const LodeLevel *level, const LodePattern *pattern, LodeBuffer *paths)
{
	size_t size = level->path_size;

	if (!lode_level_gather(self, level, pattern) ||
		!lode_buffer_reserve(self->search, paths, self->gathered.n * size, 1))
		return false;
	const uint32_t *gathered = self->gathered.data;
	size_t n = paths->n = self->gathered.n;
	for (size_t i = 0; i < n; i++) {
		if (i + LODE_READ_AHEAD < n)
			__builtin_prefetch(
				path_at(&level->candidates, size, gathered[i + LODE_READ_AHEAD]));
		memcpy(path_at(paths, size, i), path_at(&level->candidates, size, gathered[i]),
			size);
	}
	return !level->may_repeat || join_repeated(self, level, paths);
}

/*
 * Without gaps, paths of one length extend to paths that are all different: one that ends a vertex
 * later can only be met again from a prefix that is a vertex longer.
 */
static void note_lengths(const LodeSearcher *self, LodeLevel *level, uint32_t longest_window)
{
	uint32_t shortest = UINT32_MAX, longest = 0, gap = self->search->parameters->gap;

	for (size_t i = 0; i < level->prefixes.n; i++) {
		const LodeWindowPath *path = path_at(&level->prefixes, level->prefix_size, i);
		shortest = MIN(shortest, path->length);
		longest = MAX(longest, path->length);
	}
	level->may_repeat = gap > 0 || shortest < longest;
	level->path_size = path_size(longest + gap + longest_window);
}

bool lode_windows_extend(LodeSearcher *self, uint32_t depth, uint32_t longest, uint32_t max_size)
{
	const LodeLevel *above = lode_searcher_level(self, depth - 1);
	const LodePattern *pattern = &LODE_BUFFER_AT(&above->patterns, LodePattern, above->current);
	LodeLevel *level = &self->levels[depth];
	Walk walk = {self, level, 1, longest, false, {0}};

	level->groups.n = level->candidates.n = 0;
	level->prefix_size = above->path_size;
	if (!gather(self, above, pattern, &level->prefixes))
		return false;
	note_lengths(self, level, max_size > 1 ? self->search->parameters->window + 1 : 1);
	if (!walk_prefixes(&walk))
		return false;
	lode_level_want_passing(self, level);
	return fill(&walk, walk_prefixes, 0);
}

bool lode_windows_bound_longer(LodeSearcher *self, uint32_t depth)
{
	Walk walk = {
		self, &self->levels[depth], 2, self->search->parameters->window + 1, false, {0}};

	return walk_prefixes(&walk);
}

bool lode_windows_fill_longer(LodeSearcher *self, uint32_t depth, size_t first_group)
{
	Walk walk = {
		self, &self->levels[depth], 2, self->search->parameters->window + 1, false, {0}};

	return fill(&walk, walk_prefixes, first_group);
}

/* Whether the vertex at `position` is matched at a later one too: it adds its count once. */
static bool is_matched_later(const LodeWindowPath *path, uint32_t position)
{
	for (uint32_t i = position + 1; i < path->length; i++)
		if (path->vertices[i] == path->vertices[position] && (path->matched >> i & 1) != 0)
			return true;
	return false;
}

static void sum_path(LodeSearcher *self, const LodeWindowPath *path)
{
	if (!(path->count > 0))
		return;
	for (uint32_t i = path->length; i-- > 0;)
		if ((path->matched >> i & 1) != 0 &&
			!(path->has_back_edge && is_matched_later(path, i)))
			lode_searcher_add(self, path->vertices[i], path->count);
	lode_searcher_add_first(self, path->vertices[0], path->count);
}

static void sum_repeated(LodeSearcher *self, const LodeLevel *level, const LodePattern *pattern)
{
	if (!gather(self, level, pattern, &self->occurrences))
		return;
	for (size_t i = 0; i < self->occurrences.n; i++)
		sum_path(self, path_at(&self->occurrences, level->path_size, i));
}

/* Asks for the path that is summed up soon, and for the sums of one that is sooner. */
static void read_sums_ahead(const LodeSearcher *self, const LodeLevel *level, size_t index)
{
	const uint32_t *gathered = self->gathered.data;

	if (index + 2 * LODE_READ_AHEAD >= self->gathered.n)
		return;
	__builtin_prefetch(path_at(
		&level->candidates, level->path_size, gathered[index + 2 * LODE_READ_AHEAD]));
	const LodeWindowPath *near = path_at(
		&level->candidates, level->path_size, gathered[index + LODE_READ_AHEAD]);
	for (uint32_t i = 0; i < near->length; i++)
		__builtin_prefetch(&self->sums[near->vertices[i]], 1);
}

void lode_windows_sum(LodeSearcher *self, uint32_t depth, const LodePattern *pattern)
{
	const LodeLevel *level = lode_searcher_level(self, depth);

	if (level->may_repeat) {
		sum_repeated(self, level, pattern);
		return;
	}
	if (!lode_level_gather(self, level, pattern))
		return;
	for (size_t i = 0; i < self->gathered.n; i++) {
		read_sums_ahead(self, level, i);
		sum_path(self, path_at(&level->candidates, level->path_size,
				       LODE_BUFFER_AT(&self->gathered, uint32_t, i)));
	}
}
