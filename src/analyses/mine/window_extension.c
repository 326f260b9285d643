/* SPDX-License-Identifier: MIT */
/*
 * The search with gaps or windows. One path can hold an occurrence in several ways (other gaps,
 * other cuts between windows); it counts once, and its matched vertices are those of all ways. So a
 * candidate is a path with one way of matching it, and knows which candidate has the same path.
 *
 *   prefix occurrence ──▶ 0 … g gap vertices ──▶ window of 1 … w+1 vertices = candidate
 */
#include "analyses/mine/searcher.h"

#include "base/arrays/hash.h"
#include "base/bits.h"
#include "base/worker_pool.h"
#include "model/index.h"

#include <string.h>

enum { VERTEX_CHUNK = 2 }; /* vertices are copied so many at a time */

static size_t path_size(uint32_t n_vertices)
{
	uint32_t n_chunks = (n_vertices + VERTEX_CHUNK - 1) / VERTEX_CHUNK;

	return sizeof(LodeWindowPath) + n_chunks * VERTEX_CHUNK * sizeof(uint32_t);
}

G_STATIC_ASSERT(sizeof(LodeWindowPath) % _Alignof(LodeWindowPath) == 0);
G_STATIC_ASSERT(VERTEX_CHUNK * sizeof(uint32_t) % _Alignof(LodeWindowPath) == 0);

/* Faster than a call where there are few vertices; both have room for whole chunks. */
static void copy_vertices(uint32_t *to, const uint32_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += VERTEX_CHUNK)
		memcpy(to + i, from + i, VERTEX_CHUNK * sizeof(uint32_t));
}

static LodeWindowPath *path_at(const LodeLevel *level, size_t index)
{
	return (LodeWindowPath *)(void *)((char *)level->candidates.data +
					  index * level->path_size);
}

/* The vertex that a walk stands at, the last of the walk's vertices. */
typedef struct {
	double count;
	double ratio;  /* W/n of the vertex */
	uint32_t hash; /* of the vertices up to it */
	uint32_t vertex, length;
	bool has_back_edge;
} Step;

/* The treatment of the candidates that a walk meets. */
typedef enum {
	COUNT,          /* only counted */
	BOUND_AND_KEEP, /* added to their groups' bounds, and kept */
	BOUND,          /* added to the bounds only */
	BOUND_PAIRS,    /* added to the bounds of pairs */
	BOUND_PAIRED,   /* to those of groups whose windows hold a pair that may pass */
	FILL,           /* kept as members of the wanted groups, whose bounds are known */
} Purpose;

/* A walk over candidates of a level. */
typedef struct {
	LodeSearcher *searcher;
	LodeLevel *level;
	uint32_t longest; /* vertices of the windows looked for */
	Purpose purpose;
	bool is_hashed;        /* the level has room for equal paths */
	size_t n_met;          /* with purpose COUNT */
	uint32_t vertices[64]; /* of the path so far */
} Walk;

static Walk walk_over(LodeSearcher *searcher, LodeLevel *level, uint32_t longest, Purpose purpose)
{
	return (Walk){.searcher = searcher,
		.level = level,
		.longest = longest,
		.purpose = purpose,
		.is_hashed = searcher->search->parameters->gap > 0};
}

/* The matched positions of a path. */
typedef struct {
	uint64_t positions; /* bits */
	double ratio;       /* Σ W/n over them */
	uint32_t n;
} Matched;

/* A window under way: what is matched on its path, its class, the list of its vertices' classes. */
typedef struct {
	Matched matched;
	uint32_t class_id, list, n;
} Window;

/* False where no counted path goes. */
static bool take_step(Walk *walk, const Step *before, const LodeSearchEdge *edge, Step *out)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;
	double count = lode_flow_step(graph, before->count, edge->factor);

	if (!(count > 0) && graph->is_monotone)
		return false;
	*out = (Step){
		.count = count,
		.ratio = edge->ratio,
		.hash = walk->is_hashed ? (uint32_t)lode_hash_append(before->hash, edge->target)
	                                : 0,
		.vertex = edge->target,
		.length = before->length + 1,
		.has_back_edge = before->has_back_edge || edge->target <= before->vertex,
	};
	walk->vertices[before->length] = edge->target;
	return true;
}

/* Keeps the path as a candidate. */
static inline bool keep_path(
	const Walk *walk, const Step *step, const Window *window, uint32_t group)
{
	LodeLevel *level = walk->level;
	LodeBuffer *candidates = &level->candidates;
	size_t end = (candidates->n + 1) * level->path_size;

	if (end > candidates->capacity &&
		!lode_buffer_reserve(walk->searcher->search, candidates, end, 1))
		return false;
	LodeWindowPath *path = path_at(level, candidates->n++);
	*path = (LodeWindowPath){
		.count = step->count,
		.ratio = window->matched.ratio,
		.matched = window->matched.positions,
		.hash = step->hash,
		.group = group,
		.length = (uint8_t)step->length,
		.n_matched = (uint8_t)window->matched.n,
		.has_back_edge = step->has_back_edge,
	};
	copy_vertices(path->vertices, walk->vertices, step->length);
	return true;
}

/* Adds a window of several vertices to the pairs of its items that are minimal in it. */
static inline void bound_pairs(const Walk *walk, const Step *step, const Window *window)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;
	const LodeClassBits *bits = &graph->class_bits[window->class_id];
	LodePairs *pairs = walk->searcher->pairs;
	double weight = step->count > 0 ? step->count * window->matched.ratio : 0;
	double count = step->count > 0 ? step->count * window->matched.n : 0;

	for (uint64_t rest = pairs->elements & (bits->firsts | bits->lasts); rest != 0;
		rest &= rest - 1) {
		unsigned item = (unsigned)__builtin_ctzll(rest);
		uint64_t others = (bits->firsts >> item & 1) != 0 ? bits->lasts : bits->firsts;
		for (others &= ~lode_low_bits(item + 1); others != 0; others &= others - 1) {
			unsigned other = (unsigned)__builtin_ctzll(others);
			pairs->weight[item][other] += weight;
			pairs->count[item][other] += count;
		}
	}
}

/* Whether windows of the class hold two items that may pass together, with which each element of
 * several items begins. */
static bool holds_pair(const LodeSearcher *self, uint32_t class_id)
{
	const LodePairs *pairs = self->pairs;
	uint64_t items = self->search->graph->class_bits[class_id].items;

	for (uint64_t rest = pairs->elements & items; rest != 0; rest &= rest - 1)
		if ((pairs->partners[__builtin_ctzll(rest)] & items) != 0)
			return true;
	return false;
}

/* The group of a class that was not visited before; NULL where it is of no use, or there is no
 * memory, which stops the search. */
static LodeGroup *group_of_class(const Walk *walk, uint32_t class_id)
{
	if (walk->purpose == FILL)
		return NULL;
	if (walk->purpose == BOUND_PAIRED && !holds_pair(walk->searcher, class_id)) {
		lode_searcher_reject(walk->searcher, class_id);
		return NULL;
	}
	return lode_level_group_of(walk->searcher, walk->level, class_id);
}

/*
 * Visits a window; no element is minimal in class 0. The most that the path can add to a support is
 * its count at every vertex that is matched. Where it matches in other ways too, they add what they
 * match. That docs/reference/mining.md §3 cuts the sum of a vertex off at its executions only
 * lowers a support.
 */
static inline bool visit_window(Walk *walk, const Step *step, const Window *window)
{
	LodeLevel *level = walk->level;
	LodeGroup *group;

	if (window->class_id == 0)
		return true;
	if (walk->purpose == BOUND_PAIRS) {
		bound_pairs(walk, step, window);
		return true;
	}
	if (walk->purpose == COUNT) {
		walk->n_met++;
		return true;
	}
	uint32_t known = walk->searcher->class_groups[window->class_id];
	if (known == LODE_NONE)
		return true;
	group = known != 0 ? &LODE_BUFFER_AT(&level->groups, LodeGroup, known - 1)
	                   : group_of_class(walk, window->class_id);
	if (group == NULL)
		return atomic_load_explicit(&walk->searcher->search->stop, memory_order_relaxed) ==
		       0;
	uint32_t index = (uint32_t)(group - &LODE_BUFFER_AT(&level->groups, LodeGroup, 0));
	if (walk->purpose == FILL) {
		lode_level_add_member(level, group, level->candidates.n);
		return keep_path(walk, step, window, index);
	}
	group->n++;
	group->bound_weight += step->count > 0 ? step->count * window->matched.ratio : 0;
	group->bound_count += step->count > 0 ? step->count * window->matched.n : 0;
	return walk->purpose != BOUND_AND_KEEP || keep_path(walk, step, window, index);
}

/* The window that is one edge longer. A window of two vertices is looked up by the number
 * of its edge, only a longer one by a hash. */
static Window lengthen(const LodeSearchGraph *graph, const Window *window, uint32_t edge)
{
	uint32_t list = graph->edges[edge].window_list;
	uint32_t class_id = graph->edges[edge].window_class;

	if (window->n > 1) {
		list = lode_search_graph_longer_list(
			graph, window->list, graph->edges[edge].vertex_class);
		class_id = lode_search_graph_list_class(graph, list);
	}
	return (Window){window->matched, class_id, list, window->n + 1};
}

static Window first_window(Matched matched, uint32_t vertex_class)
{
	return (Window){matched, vertex_class, vertex_class, 1};
}

/* Matches the vertex of the step. */
static void match_step(Window *window, const Step *step)
{
	window->matched.positions |= LODE_BIT(step->length - 1);
	window->matched.ratio += step->ratio;
	window->matched.n++;
}

/* Visits all windows longer than that which ends in `step`. */
static bool visit_longer_windows(Walk *walk, const Step *step, const Window *window)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;
	uint32_t end = graph->edge_starts[step->vertex + 1];

	for (uint32_t i = graph->edge_starts[step->vertex]; i < end; i++) {
		Step next;
		if (!take_step(walk, step, &graph->edges[i], &next))
			continue;
		Window longer = lengthen(graph, window, i);
		match_step(&longer, &next);
		if (!visit_window(walk, &next, &longer) ||
			(longer.n < walk->longest && !visit_longer_windows(walk, &next, &longer)))
			return false;
	}
	return true;
}

/* Visits the windows that begin with the vertex of the step. */
static inline bool visit_windows(
	Walk *walk, const Step *step, const Matched *matched, uint32_t vertex_class)
{
	Window window = first_window(*matched, vertex_class);

	match_step(&window, step);
	return visit_window(walk, step, &window) &&
	       (walk->longest == 1 || visit_longer_windows(walk, step, &window));
}

/* From the end of a prefix occurrence: gaps, and a window after each. */
static bool walk_from(Walk *walk, const Step *step, const Matched *matched, uint32_t gaps_left)
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
			!visit_windows(walk, &next, matched, edge->vertex_class))
			return false;
		if (gaps_left > 0 && !walk_from(walk, &next, matched, gaps_left - 1))
			return false;
	}
	return true;
}

/* The windows that begin with vertices [first, end). */
static bool walk_starts(Walk *walk, uint32_t first, uint32_t end)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;

	for (uint32_t v = first; v < end; v++) {
		const LodeSearchVertex *vertex = &graph->vertices[v];
		uint32_t class_id = graph->vertex_classes[v];
		/* Not v itself: a vertex and the next one would cancel each other out. */
		uint32_t hash = (uint32_t)lode_hash_append(1, v);
		Step step = {vertex->count, vertex->ratio, hash, v, 1, false};
		walk->vertices[0] = v;
		if (class_id != 0 && (!graph->is_monotone || vertex->count > 0) &&
			!visit_windows(walk, &step, &(Matched){0}, class_id))
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
	lode_prefetch(&graph->edge_starts[last_vertex(far)]);
	lode_prefetch(&graph->edges[graph->edge_starts[last_vertex(near)]]);
}

/* Puts the walk at the end of a path, the ratio of whose last vertex is not needed any more. */
static Step step_at(Walk *walk, const LodeWindowPath *path)
{
	copy_vertices(walk->vertices, path->vertices, path->length);
	return (Step){
		path->count, 0, path->hash, last_vertex(path), path->length, path->has_back_edge};
}

/* The matched positions of a path when those positions are matched, its own and others. */
static Matched matched_on(
	const LodeSearchGraph *graph, const LodeWindowPath *path, uint64_t positions)
{
	Matched matched = {path->matched, path->ratio, path->n_matched};

	for (uint64_t rest = positions & ~path->matched; rest != 0; rest &= rest - 1) {
		matched.ratio += graph->vertices[path->vertices[__builtin_ctzll(rest)]].ratio;
		matched.n++;
	}
	matched.positions = positions;
	return matched;
}

static bool walk_prefix(Walk *walk, const LodeWindowPath *prefix, uint64_t positions)
{
	const LodeSearch *search = walk->searcher->search;
	Step step = step_at(walk, prefix);
	Matched matched = matched_on(search->graph, prefix, positions);

	return walk_from(walk, &step, &matched, search->parameters->gap);
}

/* Walks from the paths in `matches`, of the level above. */
static bool walk_prefixes(Walk *walk, const LodeLevel *above)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;
	const LodeMatch *matches = walk->searcher->matches.data;
	size_t n = walk->searcher->matches.n;

	for (size_t i = 0; i < n; i++) {
		if (i + 3 * LODE_READ_AHEAD < n) {
			lode_prefetch(path_at(above, matches[i + 3 * LODE_READ_AHEAD].candidate));
			read_edges_ahead(graph,
				path_at(above, matches[i + 2 * LODE_READ_AHEAD].candidate),
				path_at(above, matches[i + LODE_READ_AHEAD].candidate));
		}
		if (!walk_prefix(walk, path_at(above, matches[i].candidate), matches[i].matched))
			return false;
	}
	return true;
}

/* The candidate that is member `index` of its level. */
static const LodeWindowPath *member_at(const LodeLevel *level, size_t index)
{
	return path_at(level, LODE_BUFFER_AT(&level->members, uint32_t, index));
}

/* With windows of one vertex only: an element begins with one item, which is in no minimal window
 * of several vertices. */
bool lode_windows_bound_next(LodeSearcher *self, const LodeGroup *group)
{
	LodeLevel *next = &self->levels[1];
	const LodeLevel *root = self->root;
	Walk walk = walk_over(self, next, 1, BOUND);
	bool is_ok = true;

	next->groups.n = next->candidates.n = 0;
	for (size_t i = group->first; i < group->first + group->n && is_ok; i++) {
		if (i + 3 * LODE_READ_AHEAD < root->members.n) {
			lode_prefetch(member_at(root, i + 3 * LODE_READ_AHEAD));
			read_edges_ahead(self->search->graph,
				member_at(root, i + 2 * LODE_READ_AHEAD),
				member_at(root, i + LODE_READ_AHEAD));
		}
		is_ok = walk_prefix(&walk, member_at(root, i), member_at(root, i)->matched);
	}
	lode_level_bound_items(self, next);
	lode_level_finish(self, next, 0);
	return is_ok;
}

/* Adds a member to the table, or finds the one with the same vertices that is there. */
static void find_same(LodeSearcher *self, LodeLevel *level, uint32_t index)
{
	LodeWindowPath *path = path_at(level, index);
	LodePathSlot *slots = self->path_table.data;
	size_t mask = self->path_table.n - 1, at = path->hash & mask;

	for (; slots[at].path != LODE_NONE; at = (at + 1) & mask) {
		if (slots[at].hash != path->hash)
			continue;
		LodeWindowPath *known = path_at(level, slots[at].path);
		if (known->length == path->length &&
			memcmp(known->vertices, path->vertices, path->length * sizeof(uint32_t)) ==
				0) {
			path->same = slots[at].path;
			path->is_repeated = known->is_repeated = true;
			return;
		}
	}
	path->same = index;
	slots[at] = (LodePathSlot){path->hash, index};
}

/* An empty table for the members of the level, and in it those listed already. */
static bool start_table(LodeSearcher *self, LodeLevel *level, size_t n_listed)
{
	LodeBuffer *table = &self->path_table;

	table->n = (size_t)1 << g_bit_storage(2 * level->members.n + 1);
	if (!lode_buffer_reserve(self->search, table, table->n, sizeof(LodePathSlot)))
		return false;
	memset(table->data, 0xff, table->n * sizeof(LodePathSlot));
	for (size_t i = 0; i < n_listed; i++) {
		uint32_t index = LODE_BUFFER_AT(&level->members, uint32_t, i);
		if (path_at(level, index)->same == index)
			find_same(self, level, index);
	}
	return true;
}

/* The members of the wanted groups from `first_group` on, from the candidates from `first` on. */
static bool list_members(LodeSearcher *self, LodeLevel *level, size_t first, size_t first_group)
{
	size_t n_listed = level->members.n;

	if (!lode_level_list_groups(self, level, first_group))
		return false;
	if (level->members.n == n_listed)
		return true;
	if (level->may_repeat && !start_table(self, level, n_listed))
		return false;
	LodeGroup *groups = level->groups.data;
	for (uint32_t i = (uint32_t)first; i < level->candidates.n; i++) {
		LodeGroup *group = &groups[path_at(level, i)->group];
		if (!group->is_wanted)
			continue;
		lode_level_add_member(level, group, i);
		if (level->may_repeat)
			find_same(self, level, i);
	}
	return true;
}

/*
 * Threads share the root in chunks of some vertices in a row. Candidates are counted first, so that
 * each chunk can put its own where they belong; each has groups of its own, which are put together
 * in order. So all is as one thread makes it, but for the rounding of the groups' bounds.
 */
enum { CHUNKS_A_THREAD = 4, LEAST_CHUNK = 1 << 12 };

typedef struct {
	uint32_t first_vertex, end_vertex;
	size_t first, end; /* of its candidates */
	LodeLevel own;     /* its groups, and the candidates and members of the root */
	bool is_ok;
} RootChunk;

typedef struct {
	LodeSearcher **workers;
	LodeLevel *root;
	RootChunk *chunks;
	size_t n_chunks;
} RootStart;

static void count_chunk(size_t task, unsigned worker, void *user_data)
{
	const RootStart *start = user_data;
	LodeSearcher *self = start->workers[worker];
	RootChunk *chunk = &start->chunks[task];
	Walk walk = walk_over(self, &chunk->own, self->search->parameters->window + 1, COUNT);

	walk_starts(&walk, chunk->first_vertex, chunk->end_vertex);
	chunk->end = walk.n_met;
}

static void keep_chunk(size_t task, unsigned worker, void *user_data)
{
	const RootStart *start = user_data;
	LodeSearcher *self = start->workers[worker];
	RootChunk *chunk = &start->chunks[task];
	Walk walk = walk_over(
		self, &chunk->own, self->search->parameters->window + 1, BOUND_AND_KEEP);

	chunk->own.path_size = start->root->path_size;
	chunk->own.candidates = start->root->candidates;
	chunk->own.candidates.n = chunk->first;
	chunk->is_ok = walk_starts(&walk, chunk->first_vertex, chunk->end_vertex);
	lode_level_finish(self, &chunk->own, 0);
}

static void list_chunk(size_t task, unsigned worker, void *user_data)
{
	const RootStart *start = user_data;
	RootChunk *chunk = &start->chunks[task];
	LodeGroup *groups = chunk->own.groups.data;

	(void)worker;
	chunk->own.members = start->root->members;
	for (size_t i = chunk->first; i < chunk->end; i++) {
		LodeGroup *group = &groups[path_at(&chunk->own, i)->group];
		if (group->is_wanted)
			lode_level_add_member(&chunk->own, group, i);
	}
}

/* Counts the candidates of each chunk, and makes room for all. */
static bool make_room_for_chunks(RootStart *start, unsigned n_workers)
{
	LodeLevel *root = start->root;

	lode_worker_pool_run(start->n_chunks, n_workers, count_chunk, start);
	for (size_t i = 0; i < start->n_chunks; i++) {
		start->chunks[i].first = root->candidates.n;
		root->candidates.n = start->chunks[i].end += root->candidates.n;
	}
	return lode_buffer_reserve(start->workers[0]->search, &root->candidates,
		root->candidates.n * root->path_size, 1);
}

/* Adds the groups of a chunk to those of the root; `first` is then how many members are before. */
static bool join_groups(LodeSearcher *self, LodeLevel *root, LodeLevel *chunk)
{
	for (size_t g = 0; g < chunk->groups.n; g++) {
		LodeGroup *own = &LODE_BUFFER_AT(&chunk->groups, LodeGroup, g);
		LodeGroup *group = lode_level_group_of(self, root, own->class_id);
		if (group == NULL)
			return false;
		own->first = group->n;
		group->n += own->n;
		group->bound_weight += own->bound_weight;
		group->bound_count += own->bound_count;
	}
	return true;
}

/* Says where the members of a chunk go. */
static void place_members(LodeSearcher *self, LodeLevel *root, LodeLevel *chunk)
{
	for (size_t g = 0; g < chunk->groups.n; g++) {
		LodeGroup *own = &LODE_BUFFER_AT(&chunk->groups, LodeGroup, g);
		LodeGroup *group = lode_level_wanted_group(self, root, own->class_id);
		own->is_wanted = group != NULL;
		if (group == NULL)
			continue;
		own->first += group->first;
		group->n += own->n;
		own->n = 0;
	}
}

static bool start_by_chunks(RootStart *start, unsigned n_workers)
{
	LodeSearcher *self = start->workers[0];
	bool is_ok = make_room_for_chunks(start, n_workers);

	if (is_ok)
		lode_worker_pool_run(start->n_chunks, n_workers, keep_chunk, start);
	for (size_t i = 0; i < start->n_chunks && is_ok; i++)
		is_ok = start->chunks[i].is_ok &&
		        join_groups(self, start->root, &start->chunks[i].own);
	lode_level_mark_passing(self, start->root);
	is_ok = is_ok && lode_level_make_room(self, start->root, 0, 0);
	for (size_t i = 0; i < start->n_chunks && is_ok; i++)
		place_members(self, start->root, &start->chunks[i].own);
	lode_level_finish(self, start->root, 0);
	if (is_ok)
		lode_worker_pool_run(start->n_chunks, n_workers, list_chunk, start);
	return is_ok;
}

bool lode_windows_start(LodeSearcher **workers, unsigned n_workers, LodeLevel *root)
{
	LodeSearcher *self = workers[0];
	uint32_t n_vertices = self->search->graph->graph->n_vertices;
	size_t n = MIN((size_t)CHUNKS_A_THREAD * n_workers, n_vertices / LEAST_CHUNK);
	Walk walk = walk_over(self, root, self->search->parameters->window + 1, BOUND_AND_KEEP);

	root->path_size = path_size(walk.longest);
	root->is_ordered = true;
	if (n_workers == 1 || n < 2) {
		if (!walk_starts(&walk, 0, n_vertices))
			return false;
		lode_level_mark_passing(self, root);
		return list_members(self, root, 0, 0);
	}
	g_autofree RootChunk *chunks = g_new0(RootChunk, n);
	for (size_t i = 0; i < n; i++) {
		chunks[i].first_vertex = (uint32_t)(i * n_vertices / n);
		chunks[i].end_vertex = (uint32_t)((i + 1) * n_vertices / n);
	}
	RootStart start = {.workers = workers, .root = root, .chunks = chunks, .n_chunks = n};
	bool is_ok = start_by_chunks(&start, n_workers);
	for (size_t i = 0; i < n; i++)
		lode_buffer_clear(self->search, &chunks[i].own.groups, sizeof(LodeGroup));
	return is_ok;
}

/*
 * Joins what is matched on paths that occur twice: a path counts once, however many ways there are
 * to match it (docs/reference/mining.md §2). A slot says where a path was put last, and is compared
 * with what is there: slots are not cleared for each pattern.
 */
static bool join_repeated(LodeSearcher *self, const LodeLevel *level)
{
	size_t n = 0, n_slots = self->path_slots.capacity;
	LodeMatch *matches = self->matches.data;

	if (!lode_buffer_reserve(
		    self->search, &self->path_slots, level->candidates.n, sizeof(uint32_t)))
		return false;
	uint32_t *slots = self->path_slots.data;
	if (self->path_slots.capacity != n_slots)
		memset(slots, 0, self->path_slots.capacity * sizeof(uint32_t));
	for (size_t i = 0; i < self->matches.n; i++) {
		const LodeWindowPath *path = path_at(level, matches[i].candidate);
		if (path->is_repeated) {
			uint32_t *slot = &slots[path->same];
			if (*slot < n &&
				path_at(level, matches[*slot].candidate)->same == path->same) {
				matches[*slot].matched |= path->matched;
				continue;
			}
			*slot = (uint32_t)n;
		}
		matches[n++] = matches[i];
	}
	self->matches.n = n;
	return true;
}

/* The first of `gathered` that is a longer window's. */
static size_t first_longer(const LodeSearcher *self, const LodeLevel *level)
{
	const uint32_t *gathered = self->gathered.data;
	size_t low = 0, high = self->gathered.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (gathered[middle] < level->n_short)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Longer windows were found after all others: puts them where their first vertices belong. */
static bool put_longer_in_order(LodeSearcher *self, const LodeLevel *level)
{
	size_t n = self->gathered.n, at = 0, middle = first_longer(self, level), longer = middle;

	if (!lode_buffer_reserve(self->search, &self->merged, n, sizeof(uint32_t)))
		return false;
	const uint32_t *gathered = self->gathered.data;
	uint32_t *merged = self->merged.data;
	for (size_t i = 0; i < n; i++) {
		size_t ahead = MIN(at + 2 * LODE_READ_AHEAD, n - 1);
		size_t longer_ahead = MIN(longer + 2 * LODE_READ_AHEAD, n - 1);
		lode_prefetch(path_at(level, gathered[ahead])->vertices);
		lode_prefetch(path_at(level, gathered[longer_ahead])->vertices);
		bool is_longer = at == middle ||
		                 (longer < n && path_at(level, gathered[longer])->vertices[0] <
							path_at(level, gathered[at])->vertices[0]);
		merged[i] = gathered[is_longer ? longer++ : at++];
	}
	LodeBuffer swapped = self->gathered;
	self->gathered = self->merged;
	self->merged = swapped;
	self->gathered.n = n;
	self->is_in_order = true;
	return true;
}

/* So few fit the caches in any order. */
enum { FEW_GATHERED = 2048 };

/* Gathers the paths of a pattern, in the order of their first vertices where they are many. */
static bool gather(LodeSearcher *self, const LodeLevel *level, const LodePattern *pattern)
{
	return lode_level_gather(self, level, pattern) &&
	       (level->n_short == 0 || !level->is_ordered || self->gathered.n < FEW_GATHERED ||
		       put_longer_in_order(self, level));
}

/* Puts the paths of a pattern into `matches`. */
static bool match(LodeSearcher *self, const LodeLevel *level, const LodePattern *pattern)
{
	if (!gather(self, level, pattern) || !lode_buffer_reserve(self->search, &self->matches,
						     self->gathered.n, sizeof(LodeMatch)))
		return false;
	const uint32_t *gathered = self->gathered.data;
	LodeMatch *matches = self->matches.data;
	size_t n = self->matches.n = self->gathered.n;
	for (size_t i = 0; i < n; i++) {
		if (i + LODE_READ_AHEAD < n)
			lode_prefetch(path_at(level, gathered[i + LODE_READ_AHEAD]));
		matches[i] = (LodeMatch){path_at(level, gathered[i])->matched, gathered[i]};
	}
	return !level->may_repeat || join_repeated(self, level);
}

bool lode_windows_extend(LodeSearcher *self, uint32_t depth, uint32_t max_size)
{
	const LodeMiningParameters *parameters = self->search->parameters;
	const LodeLevel *above = lode_searcher_level(self, depth - 1);
	const LodePattern *pattern = &LODE_BUFFER_AT(&above->patterns, LodePattern, above->current);
	LodeLevel *level = &self->levels[depth];
	Walk walk = walk_over(self, level, 1, BOUND_AND_KEEP);
	uint32_t longest = 0;

	level->groups.n = level->candidates.n = level->members.n = level->n_short = 0;
	if (!match(self, above, pattern))
		return false;
	level->is_ordered = self->is_in_order;
	for (size_t i = 0; i < self->matches.n; i++)
		longest = MAX(longest,
			path_at(above, LODE_BUFFER_AT(&self->matches, LodeMatch, i).candidate)
				->length);
	level->path_size = path_size(
		longest + parameters->gap + (max_size > 1 ? parameters->window + 1 : 1));
	/* Without gaps a path matches in one way only: a window ends with the first vertex that
	 * completes its element, and the next one begins after it. */
	level->may_repeat = parameters->gap > 0;
	if (!walk_prefixes(&walk, above))
		return false;
	lode_level_mark_passing(self, level);
	return list_members(self, level, 0, 0);
}

/* So few are all kept: to look at them again costs more than it saves. */
enum { FEW_CANDIDATES = 4096 };

/* Walks the longer windows that begin with the level's windows of one vertex. */
static bool walk_longer(Walk *walk)
{
	const LodeSearchGraph *graph = walk->searcher->search->graph;
	const LodeLevel *level = walk->level;
	size_t n = level->n_short;

	/* Each window begins with one of a vertex, whether that is wanted or not. */
	for (size_t i = 0; i < n; i++) {
		if (i + 2 * LODE_READ_AHEAD < n)
			read_edges_ahead(graph, path_at(level, i + 2 * LODE_READ_AHEAD),
				path_at(level, i + LODE_READ_AHEAD));
		const LodeWindowPath *path = path_at(level, i);
		uint32_t class_id = graph->vertex_classes[last_vertex(path)];
		Window window = first_window(matched_on(graph, path, path->matched), class_id);
		Step step = step_at(walk, path);
		if (!visit_longer_windows(walk, &step, &window))
			return false;
	}
	return true;
}

/* Adds the windows of one vertex to the pairs. */
static void bound_short_pairs(LodeSearcher *self, const LodeLevel *level)
{
	LodePairs *pairs = self->pairs;

	for (size_t g = 0; g < level->groups.n; g++) {
		const LodeGroup *group = &LODE_BUFFER_AT(&level->groups, LodeGroup, g);
		uint64_t items = self->search->graph->class_bits[group->class_id].items;
		for (uint64_t rest = pairs->elements & items; rest != 0; rest &= rest - 1) {
			unsigned item = (unsigned)__builtin_ctzll(rest);
			for (uint64_t others = items & ~lode_low_bits(item + 1); others != 0;
				others &= others - 1) {
				unsigned other = (unsigned)__builtin_ctzll(others);
				pairs->weight[item][other] += group->bound_weight;
				pairs->count[item][other] += group->bound_count;
			}
		}
	}
}

/* Finds the pairs that may pass, with one of `elements`; whether there is one. */
static bool find_pairs(LodeSearcher *self, LodeLevel *level, uint64_t elements)
{
	LodePairs *pairs = self->pairs;
	uint32_t n_items = self->search->graph->n_items;
	Walk walk = walk_over(self, level, self->search->parameters->window + 1, BOUND_PAIRS);
	uint64_t any = 0;

	pairs->elements = elements;
	for (uint64_t rest = elements; rest != 0; rest &= rest - 1) {
		memset(pairs->weight[__builtin_ctzll(rest)], 0, n_items * sizeof(double));
		memset(pairs->count[__builtin_ctzll(rest)], 0, n_items * sizeof(double));
	}
	bound_short_pairs(self, level);
	walk_longer(&walk);
	for (uint64_t rest = elements; rest != 0; rest &= rest - 1) {
		unsigned item = (unsigned)__builtin_ctzll(rest);
		pairs->partners[item] = 0;
		for (uint32_t other = item + 1; other < n_items; other++)
			if (lode_search_may_pass(self->search, pairs->weight[item][other],
				    pairs->count[item][other]))
				pairs->partners[item] |= LODE_BIT(other);
		any |= pairs->partners[item];
	}
	return any != 0;
}

/* Whether the longer windows are visited three times, and few of them kept. */
static bool has_pairs(const LodeSearcher *self, const LodeLevel *level)
{
	return self->pairs != NULL && level->n_short >= FEW_CANDIDATES;
}

bool lode_windows_bound_longer(LodeSearcher *self, uint32_t depth, uint64_t elements)
{
	LodeLevel *level = &self->levels[depth];
	size_t first_group = level->groups.n;
	uint32_t longest = self->search->parameters->window + 1;

	level->n_short = level->candidates.n;
	if (has_pairs(self, level) && !find_pairs(self, level, elements))
		return true;
	Walk walk = walk_over(
		self, level, longest, has_pairs(self, level) ? BOUND_PAIRED : BOUND_AND_KEEP);
	bool is_ok = walk_longer(&walk);
	lode_level_finish(self, level, first_group);
	return is_ok;
}

/* The candidates of longer windows in the wanted groups, found again, as members. */
static bool fill_again(LodeSearcher *self, LodeLevel *level, size_t first_group)
{
	size_t n_listed = level->members.n;
	Walk walk = walk_over(self, level, self->search->parameters->window + 1, FILL);

	if (!lode_level_make_room(self, level, first_group, level->path_size))
		return false;
	bool is_ok = level->members.n == n_listed || walk_longer(&walk);
	lode_level_finish(self, level, first_group);
	if (!is_ok || !level->may_repeat)
		return is_ok;
	if (!start_table(self, level, n_listed))
		return false;
	for (size_t i = level->n_short; i < level->candidates.n; i++)
		find_same(self, level, (uint32_t)i);
	return true;
}

bool lode_windows_fill_longer(LodeSearcher *self, uint32_t depth, size_t first_group)
{
	LodeLevel *level = &self->levels[depth];

	return has_pairs(self, level) ? fill_again(self, level, first_group)
	                              : list_members(self, level, level->n_short, first_group);
}

/* Whether the vertex at `position` is matched at a later one too: it adds its count once. */
static bool is_matched_later(const LodeWindowPath *path, uint64_t matched, uint32_t position)
{
	for (uint32_t i = position + 1; i < path->length; i++)
		if (path->vertices[i] == path->vertices[position] && (matched >> i & 1) != 0)
			return true;
	return false;
}

/* Adds the matched vertices of a path with a count. */
static inline void sum_path(LodeVertexSums *sums, const LodeWindowPath *path, uint64_t matched)
{
	bool is_whole = matched == UINT64_MAX >> (64 - path->length);

	if (is_whole && !path->has_back_edge) {
		for (uint32_t i = 0; i < path->length; i++)
			lode_vertex_sums_add(sums, path->vertices[i], path->count);
		return;
	}
	for (uint64_t rest = matched; rest != 0; rest &= rest - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(rest);
		if (!path->has_back_edge || !is_matched_later(path, matched, i))
			lode_vertex_sums_add(sums, path->vertices[i], path->count);
	}
}

/* Asks for a path that comes soon, and for what is added to and read at the ends of a sooner one:
 * most are at neighbours. */
static inline void read_sums_ahead(
	const LodeSearcher *self, const LodeWindowPath *far, const LodeWindowPath *near)
{
	const LodeSearchVertex *vertices = self->search->graph->vertices;

	lode_prefetch(far);
	lode_prefetch(&far->vertices[4]);
	lode_prefetch(&self->matched.sums[near->vertices[0]]);
	lode_prefetch(&self->matched.sums[last_vertex(near)]);
	lode_prefetch(&self->firsts.sums[near->vertices[0]]);
	lode_prefetch(&vertices[near->vertices[0]]);
	lode_prefetch(&vertices[last_vertex(near)]);
}

/* Adds up the paths of `matches` that begin before `end`, from one on; the first of the others. */
static size_t sum_matches(LodeSearcher *self, const LodeLevel *level, size_t first, uint32_t end)
{
	const LodeMatch *matches = self->matches.data;
	/* Copies, which can be in registers. */
	LodeVertexSums matched = self->matched, firsts = self->firsts;
	size_t i, n = self->matches.n;

	for (i = first; i < n; i++) {
		const LodeWindowPath *path = path_at(level, matches[i].candidate);
		if (path->vertices[0] >= end)
			break;
		if (i + 3 * LODE_READ_AHEAD < n)
			read_sums_ahead(self,
				path_at(level, matches[i + 3 * LODE_READ_AHEAD].candidate),
				path_at(level, matches[i + LODE_READ_AHEAD].candidate));
		if (!(path->count > 0))
			continue;
		sum_path(&matched, path, matches[i].matched);
		lode_vertex_sums_add(&firsts, path->vertices[0], path->count);
	}
	self->matched.n = matched.n;
	self->firsts.n = firsts.n;
	return i;
}

/* The same of `gathered`, where no path is there twice. */
static size_t sum_gathered(LodeSearcher *self, const LodeLevel *level, size_t first, uint32_t end)
{
	const uint32_t *gathered = self->gathered.data;
	LodeVertexSums matched = self->matched, firsts = self->firsts;
	size_t i, n = self->gathered.n;

	for (i = first; i < n; i++) {
		const LodeWindowPath *path = path_at(level, gathered[i]);
		if (path->vertices[0] >= end)
			break;
		if (i + 3 * LODE_READ_AHEAD < n)
			read_sums_ahead(self, path_at(level, gathered[i + 3 * LODE_READ_AHEAD]),
				path_at(level, gathered[i + LODE_READ_AHEAD]));
		if (!(path->count > 0))
			continue;
		sum_path(&matched, path, path->matched);
		lode_vertex_sums_add(&firsts, path->vertices[0], path->count);
	}
	self->matched.n = matched.n;
	self->firsts.n = firsts.n;
	return i;
}

void lode_windows_sum(LodeSearcher *self, uint32_t depth, const LodePattern *pattern)
{
	const LodeLevel *level = lode_searcher_level(self, depth);

	if (level->may_repeat ? !match(self, level, pattern) : !gather(self, level, pattern))
		return;
	size_t n = level->may_repeat ? self->matches.n : self->gathered.n;
	for (size_t i = 0; i < n;) {
		uint32_t candidate =
			level->may_repeat ? LODE_BUFFER_AT(&self->matches, LodeMatch, i).candidate
					  : LODE_BUFFER_AT(&self->gathered, uint32_t, i);
		uint32_t end = self->is_in_order ? lode_searcher_block_end(self,
							   path_at(level, candidate)->vertices[0])
		                                 : UINT32_MAX;
		i = level->may_repeat ? sum_matches(self, level, i, end)
		                      : sum_gathered(self, level, i, end);
		lode_sums_take(self);
	}
}
