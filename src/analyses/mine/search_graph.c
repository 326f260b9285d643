/* SPDX-License-Identifier: MIT */
#include "analyses/mine/search_graph.h"

#include "base/arrays/hash.h"
#include "base/arrays/large_array.h"
#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "base/worker_pool.h"
#include "model/index.h"
#include "model/mining_run.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A window as a list of vertex classes: the shorter list and the class after it. */
typedef struct {
	uint32_t shorter, vertex_class;
	uint32_t window_class;
} WindowList;

static const double tolerance = 1e-12; /* docs/reference/mining.md §4 */

bool lode_support_passes(const LodeMiningParameters *parameters, double weight, double frequency)
{
	return fmax(weight, frequency) >= parameters->min_support - tolerance ||
	       fabs(weight - frequency) >= parameters->min_differential - tolerance;
}

/* For terms from 0 on that sum up to at most `total`. */
static LodeGrid grid_for(double total)
{
	int exponent;

	/* Sums with `shift` are between it and twice that, where numbers are 2^(exponent − 52)
	 * apart. */
	frexp(total > 0 && isfinite(total) ? total : 1, &exponent);
	exponent = CLAMP(exponent, DBL_MIN_EXP + 64, DBL_MAX_EXP - 2);
	return (LodeGrid){ldexp(1, exponent - 52), ldexp(1, exponent)};
}

/*
 * Threads share the work in chunks of so many vertices or classes in a row. How a graph is cut does
 * not depend on the number of threads, and what was found in chunks is put together in their order.
 */
enum { CHUNK_ITEMS = 1 << 13 };

static size_t count_chunks(uint32_t n)
{
	return ((size_t)n + CHUNK_ITEMS - 1) / CHUNK_ITEMS;
}

static uint32_t chunk_start(uint32_t n, size_t chunk)
{
	return (uint32_t)MIN(chunk * CHUNK_ITEMS, n);
}

typedef struct {
	double weight, count;
	uint32_t functions, first_graph, last_graph;
} SingleSupport;

/* The sums of some vertices in a row. */
typedef struct {
	SingleSupport *singles; /* [n_attributes] */
	double weight, count;
} Part;

typedef struct {
	const LodeFlowGraph *graph;
	size_t n_parts;
	Part *parts;
} PartSums;

static void sum_vertex(const LodeFlowGraph *graph, uint32_t v, Part *part)
{
	uint32_t class_id = graph->attribute_classes[v], own_graph = graph->vertex_graphs[v];

	part->weight += graph->weight[v];
	part->count += graph->count[v];
	if (!(graph->count[v] > 0))
		return;
	for (uint32_t i = graph->class_starts[class_id]; i < graph->class_starts[class_id + 1];
		i++) {
		SingleSupport *single = &part->singles[graph->class_members[i]];
		single->weight += graph->weight[v];
		single->count += graph->count[v];
		if (single->functions == 0)
			single->first_graph = own_graph;
		single->functions += single->functions == 0 || single->last_graph != own_graph;
		single->last_graph = own_graph;
	}
}

static void sum_part(size_t task, unsigned worker, void *user_data)
{
	PartSums *self = user_data;
	const LodeFlowGraph *graph = self->graph;
	Part *part = &self->parts[task];
	uint64_t n = graph->n_vertices;

	(void)worker;
	part->singles = g_new0(SingleSupport, graph->n_attributes + 1);
	for (uint64_t v = task * n / self->n_parts; v < (task + 1) * n / self->n_parts; v++)
		sum_vertex(graph, (uint32_t)v, part);
}

/* Adds the vertices after those summed up so far. */
static void add_part(const LodeFlowGraph *graph, Part *sum, const Part *part)
{
	sum->weight += part->weight;
	sum->count += part->count;
	for (uint32_t i = 0; i < graph->n_attributes; i++) {
		const SingleSupport *more = &part->singles[i];
		SingleSupport *single = &sum->singles[i];
		if (more->functions == 0)
			continue;
		single->weight += more->weight;
		single->count += more->count;
		/* The graph that one part ends in may be the one that the other begins in. */
		bool is_same = single->functions > 0 && single->last_graph == more->first_graph;
		single->functions += more->functions - is_same;
		single->last_graph = more->last_graph;
	}
}

/* The totals, and the support of each attribute alone: every vertex that has it, at its full count.
 * Each part has memory for every attribute: there are fewer parts where attributes are many. */
static Part sum_vertices(const LodeFlowGraph *graph, unsigned n_workers)
{
	uint32_t most = graph->n_vertices / (4 * graph->n_attributes + 1);
	PartSums sums = {.graph = graph};

	sums.n_parts = CLAMP(most, 1, MAX(count_chunks(graph->n_vertices), 1));
	sums.parts = g_new0(Part, sums.n_parts);
	lode_worker_pool_run(sums.n_parts, n_workers, sum_part, &sums);
	Part sum = sums.parts[0];
	for (size_t i = 1; i < sums.n_parts; i++) {
		add_part(graph, &sum, &sums.parts[i]);
		g_free(sums.parts[i].singles);
	}
	g_free(sums.parts);
	return sum;
}

/* Fills item_attributes; gives attribute → item, LODE_NONE where it does not pass. */
static uint32_t *choose_items(
	LodeSearchGraph *self, const LodeMiningParameters *parameters, const SingleSupport *singles)
{
	const LodeFlowGraph *graph = self->graph;
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
	return items;
}

static void class_set_init(LodeClassSet *self)
{
	uint32_t zero = 0;

	*self = (LodeClassSet){
		.starts = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		/* With room: its data are never NULL, to which not even 0 may be added. */
		.members = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), 1),
		.hashes = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
	};
	g_array_append_val(self->starts, zero);
}

static void class_set_clear(LodeClassSet *self)
{
	g_array_unref(self->starts);
	g_array_unref(self->members);
	g_array_unref(self->hashes);
	g_free(self->table);
}

static uint64_t hash_members(const uint32_t *members, uint32_t n)
{
	uint64_t hash = n;

	for (uint32_t i = 0; i < n; i++)
		hash = lode_hash_append(hash, members[i]);
	return hash;
}

static void grow_class_table(LodeClassSet *self)
{
	size_t size = MAX(self->table_size * 2, 1024);
	const uint64_t *hashes = (const uint64_t *)(void *)self->hashes->data;

	self->table = g_renew(uint32_t, self->table, size);
	memset(self->table, 0xff, size * sizeof(uint32_t));
	self->table_size = size;
	for (uint32_t i = 0; i < self->n; i++) {
		size_t at = hashes[i] & (size - 1);
		while (self->table[at] != LODE_NONE)
			at = (at + 1) & (size - 1);
		self->table[at] = i;
	}
}

/* The class with these members, made when new. */
static uint32_t intern_class(LodeClassSet *self, const uint32_t *members, uint32_t n)
{
	uint64_t hash = hash_members(members, n);

	if ((size_t)(self->n + 1) * 2 > self->table_size)
		grow_class_table(self);
	size_t mask = self->table_size - 1, at = hash & mask;
	for (; self->table[at] != LODE_NONE; at = (at + 1) & mask) {
		uint32_t known = self->table[at], n_known;
		if (g_array_index(self->hashes, uint64_t, known) != hash)
			continue;
		const uint32_t *same = lode_class_set_members(self, known, &n_known);
		if (n_known == n && (n == 0 || memcmp(same, members, n * sizeof(uint32_t)) == 0))
			return known;
	}
	self->table[at] = self->n;
	g_array_append_val(self->hashes, hash);
	if (n > 0)
		g_array_append_vals(self->members, members, n);
	guint end = self->members->len;
	g_array_append_val(self->starts, end);
	return self->n++;
}

/* A chunk of the graph's attribute classes, projected onto the items. */
typedef struct {
	LodeClassSet classes;
	uint32_t *numbers; /* of its classes in the search graph */
} ProjectedChunk;

/* The inputs of the threads that prepare a graph, and the chunks that they fill. */
typedef struct {
	LodeSearchGraph *graph;
	const uint32_t *items; /* attribute → item */
	ProjectedChunk *projected_chunks;
	uint32_t *projected; /* [graph's classes]: number in its chunk */
	bool needs_items;
	struct EdgeChunk *edge_chunks;
} Preparation;

static void project_chunk(size_t task, unsigned worker, void *user_data)
{
	const Preparation *self = user_data;
	const LodeFlowGraph *graph = self->graph->graph;
	LodeClassSet *classes = &self->projected_chunks[task].classes;
	g_autofree uint32_t *members = g_new(uint32_t, self->graph->n_items + 1);
	uint32_t end = chunk_start(graph->n_classes, task + 1);

	(void)worker;
	class_set_init(classes);
	for (uint32_t i = chunk_start(graph->n_classes, task); i < end; i++) {
		uint32_t n = 0;
		for (uint32_t j = graph->class_starts[i]; j < graph->class_starts[i + 1]; j++) {
			uint32_t item = self->items[graph->class_members[j]];
			if (item != LODE_NONE)
				members[n++] = item | LODE_MEMBER_FIRST | LODE_MEMBER_LAST;
		}
		self->projected[i] = intern_class(classes, members, n);
	}
}

/* Numbers the classes of a chunk as the graph does. */
static void number_classes(LodeSearchGraph *self, ProjectedChunk *chunk)
{
	chunk->numbers = g_new(uint32_t, chunk->classes.n + 1);
	for (uint32_t i = 0; i < chunk->classes.n; i++) {
		uint32_t n;
		const uint32_t *members = lode_class_set_members(&chunk->classes, i, &n);
		chunk->numbers[i] = intern_class(&self->classes, members, n);
	}
	class_set_clear(&chunk->classes);
}

static void prepare_vertices(size_t task, unsigned worker, void *user_data)
{
	const Preparation *preparation = user_data;
	const LodeSearchGraph *self = preparation->graph;
	const LodeFlowGraph *graph = self->graph;
	uint32_t end = chunk_start(graph->n_vertices, task + 1);

	(void)worker;
	for (uint32_t v = chunk_start(graph->n_vertices, task); v < end; v++) {
		uint32_t class_id = graph->attribute_classes[v];
		double count = lode_grid_round_count(self->count_grid, graph->count[v]);
		self->vertex_classes[v] = preparation->projected_chunks[class_id / CHUNK_ITEMS]
		                                  .numbers[preparation->projected[class_id]];
		self->vertices[v] = (LodeSearchVertex){
			.count = count,
			.ratio = count > 0 ? graph->weight[v] / count : 0,
			.graph = graph->vertex_graphs[v],
		};
	}
}

/* Fills vertex_classes and, but for events, vertices; class 0 is the empty one. */
static void classify_vertices(LodeSearchGraph *self, Preparation *preparation, unsigned n_workers)
{
	const LodeFlowGraph *graph = self->graph;
	size_t n_chunks = count_chunks(graph->n_classes);
	g_autofree uint32_t *projected = g_new(uint32_t, graph->n_classes + 1);
	g_autofree ProjectedChunk *chunks = g_new0(ProjectedChunk, n_chunks + 1);

	preparation->projected = projected;
	preparation->projected_chunks = chunks;
	lode_worker_pool_run(n_chunks, n_workers, project_chunk, preparation);
	intern_class(&self->classes, NULL, 0);
	for (size_t i = 0; i < n_chunks; i++)
		number_classes(self, &chunks[i]);
	self->n_vertex_classes = self->classes.n;
	self->vertex_classes = g_new(uint32_t, graph->n_vertices + 1);
	self->vertices = g_new(LodeSearchVertex, graph->n_vertices + 1);
	lode_large_array_advise(self->vertices, (graph->n_vertices + 1) * sizeof(LodeSearchVertex));
	self->vertices[graph->n_vertices] = (LodeSearchVertex){0};
	lode_worker_pool_run(
		count_chunks(graph->n_vertices), n_workers, prepare_vertices, preparation);
	for (size_t i = 0; i < n_chunks; i++)
		g_free(chunks[i].numbers);
}

/* Writes the vertex's value of each event into the row, 0 for those it does not have. */
static void read_events(const LodeFlowGraph *graph, uint32_t vertex, double *row)
{
	memset(row, 0, sizeof(double) * graph->n_events);
	for (uint32_t i = graph->event_starts[vertex]; i < graph->event_starts[vertex + 1]; i++)
		row[graph->event_ids[i]] += graph->event_values[i];
}

/*
 * The rate that more than half of the vertices have, where there is one (R. S. Boyer, J S. Moore,
 * "MJRTY: a fast majority vote algorithm", 1991); another where there is none, which only makes
 * more values differ. A rate above the average is not used: times a count that is rounded up to a
 * multiple of the grid it could be more than there is in all.
 */
static void find_event_rates(LodeSearchGraph *self, double *row)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree uint32_t *votes = g_new0(uint32_t, graph->n_events + 1);

	self->event_rates = g_new0(double, graph->n_events + 1);
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		read_events(graph, v, row);
		for (uint32_t e = 0; e < graph->n_events; e++) {
			double rate = row[e] / graph->count[v];
			if (!isfinite(rate))
				continue;
			if (votes[e] == 0)
				self->event_rates[e] = rate;
			votes[e] += rate == self->event_rates[e] ? 1 : UINT32_MAX;
		}
	}
	for (uint32_t e = 0; e < graph->n_events; e++)
		if (!(self->event_rates[e] * self->total_count <=
			    graph->event_totals[e] * (1 + 1e-9)))
			self->event_rates[e] = 0;
}

static void prepare_events(LodeSearchGraph *self)
{
	const LodeFlowGraph *graph = self->graph;
	g_autofree double *row = g_new(double, graph->n_events + 1);
	g_autofree double *sums = g_new0(double, graph->n_events + 1);
	g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(LodeEventValue));

	find_event_rates(self, row);
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		self->vertices[v].first_event = values->len;
		if (!(graph->count[v] > 0))
			continue;
		read_events(graph, v, row);
		for (uint32_t e = 0; e < graph->n_events; e++) {
			LodeEventValue one = {row[e], e};
			if (row[e] == self->event_rates[e] * graph->count[v])
				continue;
			g_array_append_val(values, one);
			sums[e] += row[e];
		}
	}
	self->event_grids = g_new(LodeGrid, graph->n_events + 1);
	for (uint32_t e = 0; e < graph->n_events; e++)
		self->event_grids[e] = grid_for(sums[e]);
	self->vertices[graph->n_vertices].first_event = values->len;
	self->event_values = (LodeEventValue *)(void *)g_array_free(
		g_steal_pointer(&values), FALSE);
}

/*
 * All of a step's arithmetic that does not depend on the path (docs/reference/mining.md §3), so
 * that a step is one minimum, product or sum.
 */
static double edge_factor(const LodeSearchGraph *self, uint32_t source, uint32_t edge)
{
	const LodeFlowGraph *graph = self->graph;
	double count = graph->edge_counts[edge];
	double executions = graph->count[source];

	switch (self->flow) {
	case LODE_FLOW_POTENTIAL:
		return lode_grid_round_count(
			self->count_grid, fmin(count, graph->count[graph->edge_targets[edge]]));
	case LODE_FLOW_EXPECTED:
		return executions > 0 ? count / executions : 0;
	case LODE_FLOW_DEFINITE:
		return lode_grid_round_count(self->count_grid, count) -
		       self->vertices[source].count;
	}
	g_assert_not_reached();
}

/* An edge that no counted path takes is left out; with `needs_items`, that is without gaps and
 * windows, also one to a vertex without items, where every path ends. */
static bool is_useful(
	const LodeSearchGraph *self, double factor, uint32_t vertex_class, bool needs_items)
{
	if (needs_items && vertex_class == 0)
		return false;
	return self->flow == LODE_FLOW_DEFINITE || factor > 0;
}

/* The edges of a chunk of vertices: whether any makes counts rise, or leaves its graph. */
typedef struct EdgeChunk {
	uint32_t n;
	bool has_rising, has_leaving;
} EdgeChunk;

/* Puts the useful edges of a chunk of vertices where the first of its edges is in the graph. */
static EdgeChunk prepare_edges(LodeSearchGraph *self, size_t chunk, bool needs_items)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t first = chunk_start(graph->n_vertices, chunk);
	uint32_t end = chunk_start(graph->n_vertices, chunk + 1);
	uint32_t n = graph->edge_starts[first];
	EdgeChunk out = {0};

	for (uint32_t v = first; v < end; v++) {
		self->edge_starts[v] = n;
		for (uint32_t i = graph->edge_starts[v]; i < graph->edge_starts[v + 1]; i++) {
			uint32_t target = graph->edge_targets[i];
			double factor = edge_factor(self, v, i);
			out.has_rising |= self->flow == LODE_FLOW_DEFINITE && factor > 0;
			if (!is_useful(self, factor, self->vertex_classes[target], needs_items))
				continue;
			/* Calls and returns may be edges, too. */
			out.has_leaving |= graph->vertex_graphs[target] != graph->vertex_graphs[v];
			self->edges[n++] = (LodeSearchEdge){
				.factor = factor,
				.ratio = self->vertices[target].ratio,
				.target = target,
				.vertex_class = self->vertex_classes[target],
			};
		}
	}
	out.n = n - graph->edge_starts[first];
	return out;
}

/* Events are one task, the first, since each vertex says where its own begin. */
static void prepare_edges_or_events(size_t task, unsigned worker, void *user_data)
{
	const Preparation *self = user_data;

	(void)worker;
	if (task == 0)
		prepare_events(self->graph);
	else
		self->edge_chunks[task - 1] = prepare_edges(
			self->graph, task - 1, self->needs_items);
}

/* Closes the gaps that edges left out leave between chunks. */
static void join_edges(LodeSearchGraph *self, const EdgeChunk *chunks)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t n = 0;

	for (size_t i = 0; i < count_chunks(graph->n_vertices); i++) {
		uint32_t first = chunk_start(graph->n_vertices, i);
		uint32_t left_out = graph->edge_starts[first] - n;
		memmove(self->edges + n, self->edges + graph->edge_starts[first],
			left_out > 0 ? chunks[i].n * sizeof(LodeSearchEdge) : 0);
		for (uint32_t v = first; left_out > 0 && v < chunk_start(graph->n_vertices, i + 1);
			v++)
			self->edge_starts[v] -= left_out;
		n += chunks[i].n;
	}
	self->edge_starts[graph->n_vertices] = n;
	if (n < graph->n_edges)
		self->edges = g_renew(LodeSearchEdge, self->edges, n + 1);
}

enum { BLOCK_VERTICES = 4096 };

static void prepare_blocks(LodeSearchGraph *self, bool has_separate_graphs)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t most = has_separate_graphs ? BLOCK_VERTICES : graph->n_vertices;
	uint32_t end = graph->n_vertices, block_end = end;

	/* From the last graph on, so that each knows the end of its block. */
	self->block_ends = g_new(uint32_t, graph->n_graphs + 1);
	for (uint32_t g = graph->n_graphs; g-- > 0;) {
		if (block_end - graph->graph_starts[g] > most)
			block_end = end;
		self->block_ends[g] = block_end;
		end = graph->graph_starts[g];
	}
}

static void prepare_edges_and_events(
	LodeSearchGraph *self, Preparation *preparation, unsigned n_workers)
{
	const LodeFlowGraph *graph = self->graph;
	size_t n_chunks = count_chunks(graph->n_vertices);
	g_autofree EdgeChunk *chunks = g_new0(EdgeChunk, n_chunks + 1);
	bool has_separate_graphs = true;

	self->edge_starts = g_new(uint32_t, graph->n_vertices + 1);
	self->edges = g_new(LodeSearchEdge, graph->n_edges + 1);
	lode_large_array_advise(self->edges, (graph->n_edges + 1) * sizeof(LodeSearchEdge));
	preparation->edge_chunks = chunks;
	lode_worker_pool_run(n_chunks + 1, n_workers, prepare_edges_or_events, preparation);
	join_edges(self, chunks);
	self->is_monotone = true;
	for (size_t i = 0; i < n_chunks; i++) {
		self->is_monotone &= !chunks[i].has_rising;
		has_separate_graphs &= !chunks[i].has_leaving;
	}
	prepare_blocks(self, has_separate_graphs);
}

/* A set of members as counts: on how many vertices of the window an item is, and on which end. */
typedef struct {
	uint32_t *n_vertices; /* [n_items] */
	bool *is_first, *is_last;
	GArray *members; /* uint32_t: the items met, then the class */
} WindowScratch;

static void count_vertex(const LodeSearchGraph *self, WindowScratch *scratch, uint32_t class_id,
	bool is_first, bool is_last)
{
	uint32_t n;
	const uint32_t *members = lode_search_graph_class(self, class_id, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = LODE_MEMBER_ITEM(members[i]);
		if (scratch->n_vertices[item]++ == 0) {
			scratch->is_first[item] = scratch->is_last[item] = false;
			g_array_append_val(scratch->members, item);
		}
		scratch->is_first[item] |= is_first;
		scratch->is_last[item] |= is_last;
	}
}

/* Few items, in some ascending runs, are sorted faster than a call per comparison would be. */
static void sort_items(uint32_t *items, uint32_t n)
{
	if (n > 32) {
		qsort(items, n, sizeof(uint32_t), lode_compare_u32);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t item = items[i], at = i;
		for (; at > 0 && items[at - 1] > item; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/*
 * The class of the window (shorter, class): its items, and which of them an end has alone. By
 * docs/reference/mining.md §2 an element is minimal in it when one of its items is on the first
 * vertex alone and one on the last alone. Class 0 when no element can be.
 */
static uint32_t classify_list(
	LodeSearchGraph *self, WindowScratch *scratch, uint32_t shorter, uint32_t vertex_class)
{
	bool has_first = false, has_last = false;

	g_array_set_size(scratch->members, 0);
	count_vertex(self, scratch, vertex_class, false, true);
	for (; shorter >= self->n_vertex_classes;) {
		const WindowList *list = &g_array_index(
			self->lists, WindowList, shorter - self->n_vertex_classes);
		count_vertex(self, scratch, list->vertex_class, false, false);
		shorter = list->shorter;
	}
	count_vertex(self, scratch, shorter, true, false);
	uint32_t *members = (uint32_t *)(void *)scratch->members->data;
	uint32_t n = scratch->members->len;
	sort_items(members, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = members[i];
		bool is_alone = scratch->n_vertices[item] == 1;
		scratch->n_vertices[item] = 0;
		if (is_alone && scratch->is_first[item])
			members[i] |= LODE_MEMBER_FIRST;
		if (is_alone && scratch->is_last[item])
			members[i] |= LODE_MEMBER_LAST;
		has_first |= (members[i] & LODE_MEMBER_FIRST) != 0;
		has_last |= (members[i] & LODE_MEMBER_LAST) != 0;
	}
	return has_first && has_last ? intern_class(&self->classes, members, n) : 0;
}

/* Where the list that is one vertex longer is, or would be. */
static LodeListSlot *find_slot(const LodeSearchGraph *self, uint32_t list, uint32_t vertex_class)
{
	uint64_t key = (uint64_t)list << 32 | vertex_class;
	size_t mask = self->n_list_slots - 1, at = lode_hash_slot(key, 32) & mask;

	while (self->list_slots[at].list != 0 && self->list_slots[at].key != key)
		at = (at + 1) & mask;
	return &self->list_slots[at];
}

static void grow_slots(LodeSearchGraph *self)
{
	LodeListSlot *before = self->list_slots;
	size_t n = self->n_list_slots;

	self->n_list_slots = MAX(2 * n, 1024);
	self->list_slots = g_new0(LodeListSlot, self->n_list_slots);
	for (size_t i = 0; i < n; i++)
		if (before[i].list != 0)
			*find_slot(self, (uint32_t)(before[i].key >> 32),
				(uint32_t)before[i].key) = before[i];
	g_free(before);
}

static uint32_t add_list(
	LodeSearchGraph *self, WindowScratch *scratch, uint32_t shorter, uint32_t vertex_class)
{
	WindowList list = {.shorter = shorter, .vertex_class = vertex_class};

	list.window_class = classify_list(self, scratch, shorter, vertex_class);
	g_array_append_val(self->lists, list);
	return self->n_vertex_classes + self->lists->len - 1;
}

uint32_t lode_search_graph_longer_list(
	const LodeSearchGraph *self, uint32_t list, uint32_t vertex_class)
{
	return find_slot(self, list, vertex_class)->list;
}

uint32_t lode_search_graph_list_class(const LodeSearchGraph *self, uint32_t list)
{
	return g_array_index(self->lists, WindowList, list - self->n_vertex_classes).window_class;
}

/* The list one vertex longer, made when it is new: windows of the same classes are many. */
static uint32_t lengthen_list(
	LodeSearchGraph *self, WindowScratch *scratch, uint32_t list, uint32_t vertex_class)
{
	LodeListSlot *slot = find_slot(self, list, vertex_class);

	if (slot->list == 0) {
		uint32_t longer = add_list(self, scratch, list, vertex_class);
		*slot = (LodeListSlot){(uint64_t)list << 32 | vertex_class, longer};
		if (2 * (size_t)self->lists->len > self->n_list_slots)
			grow_slots(self);
		return longer;
	}
	return slot->list;
}

/* All windows from `list`, which ends in `vertex`, with up to `left` more vertices. They are made
 * before the search begins, so that its threads only read them. */
static void add_windows(LodeSearchGraph *self, WindowScratch *scratch, uint32_t list,
	uint32_t vertex, uint32_t left)
{
	for (uint32_t i = self->edge_starts[vertex]; left > 0 && i < self->edge_starts[vertex + 1];
		i++) {
		const LodeSearchEdge *edge = &self->edges[i];
		add_windows(self, scratch, lengthen_list(self, scratch, list, edge->vertex_class),
			edge->target, left - 1);
	}
}

static void prepare_windows(LodeSearchGraph *self, uint32_t window)
{
	const LodeFlowGraph *graph = self->graph;
	WindowScratch scratch = {
		.n_vertices = g_new0(uint32_t, self->n_items + 1),
		.is_first = g_new0(bool, self->n_items + 1),
		.is_last = g_new0(bool, self->n_items + 1),
		.members = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	};

	grow_slots(self);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		for (uint32_t i = self->edge_starts[v]; i < self->edge_starts[v + 1]; i++) {
			LodeSearchEdge *edge = &self->edges[i];
			edge->window_list = lengthen_list(
				self, &scratch, self->vertex_classes[v], edge->vertex_class);
			edge->window_class = lode_search_graph_list_class(self, edge->window_list);
			add_windows(self, &scratch, edge->window_list, edge->target, window - 1);
		}
	g_free(scratch.n_vertices);
	g_free(scratch.is_first);
	g_free(scratch.is_last);
	g_array_unref(scratch.members);
}

static void prepare_class_bits(LodeSearchGraph *self)
{
	uint32_t n;

	if (self->n_items > 64)
		return;
	self->class_bits = g_new0(LodeClassBits, self->classes.n + 1);
	for (uint32_t class_id = 0; class_id < self->classes.n; class_id++) {
		const uint32_t *members = lode_search_graph_class(self, class_id, &n);
		LodeClassBits *bits = &self->class_bits[class_id];
		for (uint32_t i = 0; i < n; i++) {
			uint64_t bit = LODE_BIT(LODE_MEMBER_ITEM(members[i]));
			bits->items |= bit;
			bits->firsts |= (members[i] & LODE_MEMBER_FIRST) != 0 ? bit : 0;
			bits->lasts |= (members[i] & LODE_MEMBER_LAST) != 0 ? bit : 0;
		}
	}
}

LodeSearchGraph *lode_search_graph_new(
	const LodeFlowGraph *graph, const LodeMiningParameters *parameters, unsigned n_workers)
{
	LodeSearchGraph *self = g_new0(LodeSearchGraph, 1);
	Part sum = sum_vertices(graph, n_workers);

	self->graph = graph;
	self->flow = parameters->flow;
	self->total_weight = graph->total_weight > 0 ? graph->total_weight : 1;
	self->total_count = graph->total_count > 0 ? graph->total_count : 1;
	/* The totals include filtered vertices, but a total of a hostile file may be too small. */
	self->count_grid = grid_for(fmax(sum.count, self->total_count));
	self->weight_grid = grid_for(fmax(sum.weight, self->total_weight));
	class_set_init(&self->classes);
	self->lists = g_array_new(FALSE, FALSE, sizeof(WindowList));
	g_autofree uint32_t *items = choose_items(self, parameters, sum.singles);
	g_free(sum.singles);
	Preparation preparation = {
		.graph = self,
		.items = items,
		.needs_items = parameters->gap == 0 && parameters->window == 0,
	};
	classify_vertices(self, &preparation, n_workers);
	prepare_edges_and_events(self, &preparation, n_workers);
	if (parameters->window > 0)
		prepare_windows(self, parameters->window);
	prepare_class_bits(self);
	return self;
}

void lode_search_graph_free(LodeSearchGraph *self)
{
	if (self == NULL)
		return;
	g_free(self->item_attributes);
	g_free(self->vertices);
	g_free(self->block_ends);
	g_free(self->event_grids);
	g_free(self->event_rates);
	g_free(self->event_values);
	g_free(self->vertex_classes);
	g_free(self->edge_starts);
	g_free(self->edges);
	class_set_clear(&self->classes);
	g_free(self->class_bits);
	g_array_unref(self->lists);
	g_free(self->list_slots);
	g_free(self);
}
