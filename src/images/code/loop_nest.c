/* SPDX-License-Identifier: MIT */
/*
 * All work is on preorder numbers of one depth-first search, 1 … n; 0 is a virtual root above all
 * roots. A dominator then always has the smaller number, so that a pass in ascending order sees
 * dominators first and one in descending order inner loops before outer ones.
 */
#include "images/code/loop_nest.h"

#include <string.h>

enum { UNSEEN = UINT32_MAX };

typedef struct {
	const LodeLoopGraph *graph;
	uint32_t *number;   /* of a vertex; UNSEEN before the search comes to it */
	uint32_t *vertex;   /* of a number */
	uint32_t *parent;   /* in the search tree */
	uint32_t *ancestor; /* compressed paths in the forest of processed numbers */
	uint32_t *label;    /* number with the least semi-dominator on that path */
	uint32_t *semi;
	uint32_t *dominator;
	uint32_t *stack;      /* scratch */
	uint32_t *cursor;     /* next edge of a vertex in the search */
	uint32_t *in_offsets; /* predecessors as numbers, by number */
	uint32_t *in_sources;
	uint32_t n_seen;     /* numbers given, the virtual root included */
	uint32_t first_dead; /* numbers from here on are not reachable from the given roots */
	uint32_t *memory;
} Nest;

static void nest_init(Nest *nest, const LodeLoopGraph *graph)
{
	size_t n = (size_t)graph->n + 2;
	uint32_t **arrays[] = {&nest->number, &nest->vertex, &nest->parent, &nest->ancestor,
		&nest->label, &nest->semi, &nest->dominator, &nest->stack, &nest->cursor,
		&nest->in_offsets};

	memset(nest, 0, sizeof *nest);
	nest->graph = graph;
	nest->memory = g_new0(uint32_t, n * G_N_ELEMENTS(arrays) + graph->offsets[graph->n]);
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		*arrays[i] = nest->memory + i * n;
	nest->in_sources = nest->memory + n * G_N_ELEMENTS(arrays);
	memset(nest->number, 0xff, n * sizeof *nest->number);
	nest->n_seen = 1;
}

static void number_vertex(Nest *nest, uint32_t v, uint32_t parent)
{
	uint32_t i = nest->n_seen++;

	nest->number[v] = i;
	nest->vertex[i] = v;
	nest->parent[i] = parent;
	nest->cursor[v] = nest->graph->offsets[v];
}

static void search_from(Nest *nest, uint32_t root)
{
	const LodeLoopGraph *graph = nest->graph;
	size_t depth = 0;

	if (nest->number[root] != UNSEEN)
		return;
	number_vertex(nest, root, 0);
	nest->stack[depth++] = root;
	while (depth > 0) {
		uint32_t v = nest->stack[depth - 1];
		uint32_t target;

		if (nest->cursor[v] == graph->offsets[v + 1]) {
			depth--;
			continue;
		}
		target = graph->targets[nest->cursor[v]++];
		if (nest->number[target] != UNSEEN)
			continue;
		number_vertex(nest, target, nest->number[v]);
		nest->stack[depth++] = target;
	}
}

static void search_all(Nest *nest, const uint32_t *roots, size_t n_roots)
{
	for (size_t i = 0; i < n_roots; i++)
		search_from(nest, roots[i]);
	nest->first_dead = nest->n_seen;
	for (uint32_t v = 0; v < nest->graph->n; v++)
		search_from(nest, v);
}

/* An edge out of dead code would make the reachable code look less dominated than it is. */
static bool is_counted(const Nest *nest, uint32_t source, uint32_t target)
{
	return source < nest->first_dead || target >= nest->first_dead;
}

static void collect_predecessors(Nest *nest)
{
	const LodeLoopGraph *graph = nest->graph;
	uint32_t *fill = nest->stack;

	for (uint32_t v = 0; v < graph->n; v++) {
		for (uint32_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
			uint32_t target = nest->number[graph->targets[e]];

			nest->in_offsets[target + 1] += is_counted(nest, nest->number[v], target);
		}
	}
	for (uint32_t i = 0; i <= graph->n; i++)
		nest->in_offsets[i + 1] += nest->in_offsets[i];
	memcpy(fill, nest->in_offsets, (graph->n + 1) * sizeof *fill);
	for (uint32_t v = 0; v < graph->n; v++) {
		for (uint32_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
			uint32_t target = nest->number[graph->targets[e]];

			if (is_counted(nest, nest->number[v], target))
				nest->in_sources[fill[target]++] = nest->number[v];
		}
	}
}

/* The number with the least semi-dominator on the processed path above `i`; compresses it. */
static uint32_t evaluate(Nest *nest, uint32_t i, uint32_t last)
{
	size_t depth = 0;

	if (i < last)
		return i;
	while (nest->ancestor[i] >= last) {
		nest->stack[depth++] = i;
		i = nest->ancestor[i];
	}
	while (depth > 0) {
		uint32_t child = nest->stack[--depth];

		if (nest->semi[nest->label[i]] < nest->semi[nest->label[child]])
			nest->label[child] = nest->label[i];
		nest->ancestor[child] = nest->ancestor[i];
		i = child;
	}
	return nest->label[i];
}

static void find_dominators(Nest *nest)
{
	for (uint32_t i = 0; i < nest->n_seen; i++) {
		nest->ancestor[i] = nest->parent[i];
		nest->label[i] = i;
		nest->semi[i] = i;
	}
	for (uint32_t i = nest->n_seen - 1; i > 0; i--) {
		uint32_t semi = nest->parent[i];

		for (uint32_t e = nest->in_offsets[i]; e < nest->in_offsets[i + 1]; e++) {
			uint32_t best = evaluate(nest, nest->in_sources[e], i + 1);

			semi = MIN(semi, nest->semi[best]);
		}
		nest->semi[i] = semi;
	}
	for (uint32_t i = 1; i < nest->n_seen; i++) {
		uint32_t dominator = nest->parent[i];

		while (dominator > nest->semi[i])
			dominator = nest->dominator[dominator];
		nest->dominator[i] = dominator;
	}
}

/* Preorder intervals of the dominator tree: a dominates b when b's lies within a's. */
static void find_intervals(Nest *nest, uint32_t *first, uint32_t *size)
{
	uint32_t *next = nest->stack;

	for (uint32_t i = 0; i < nest->n_seen; i++)
		size[i] = 1;
	for (uint32_t i = nest->n_seen - 1; i > 0; i--)
		size[nest->dominator[i]] += size[i];
	first[0] = 0;
	next[0] = 1;
	for (uint32_t i = 1; i < nest->n_seen; i++) {
		uint32_t dominator = nest->dominator[i];

		first[i] = next[dominator];
		next[dominator] += size[i];
		next[i] = first[i] + 1;
	}
}

static uint32_t outermost(uint32_t *merged, uint32_t i)
{
	while (merged[i] != i) {
		merged[i] = merged[merged[i]];
		i = merged[i];
	}
	return i;
}

/* Takes `i`, or the whole loop found around it so far, into the loop of `head`. */
static size_t absorb(Nest *nest, uint32_t *merged, uint32_t i, uint32_t head, size_t depth)
{
	uint32_t top = outermost(merged, i);

	if (top == head)
		return depth;
	merged[top] = head;
	nest->ancestor[top] = head;
	nest->stack[depth++] = top;
	return depth;
}

/*
 * The natural loops by descending head: an inner loop is by then one vertex, so that each vertex is
 * absorbed once. nest->ancestor becomes the head of the next loop outside, 0: none.
 */
static void find_loops(Nest *nest, LodeLoopVertex *vertices)
{
	uint32_t *first = nest->label, *size = nest->semi, *merged = nest->parent;

	find_intervals(nest, first, size);
	for (uint32_t i = 0; i < nest->n_seen; i++) {
		merged[i] = i;
		nest->ancestor[i] = 0;
	}
	for (uint32_t head = nest->n_seen - 1; head > 0; head--) {
		size_t depth = 0;

		for (uint32_t e = nest->in_offsets[head]; e < nest->in_offsets[head + 1]; e++) {
			uint32_t source = nest->in_sources[e];

			if (first[source] - first[head] >= size[head])
				continue;
			vertices[nest->vertex[head]].is_loop_head = true;
			depth = absorb(nest, merged, source, head, depth);
		}
		while (depth > 0) {
			uint32_t i = nest->stack[--depth];

			for (uint32_t e = nest->in_offsets[i]; e < nest->in_offsets[i + 1]; e++)
				depth = absorb(nest, merged, nest->in_sources[e], head, depth);
		}
	}
}

static void store(const Nest *nest, LodeLoopVertex *vertices)
{
	for (uint32_t i = 1; i < nest->n_seen; i++) {
		LodeLoopVertex *vertex = &vertices[nest->vertex[i]];
		uint32_t dominator = nest->dominator[i], outside = nest->ancestor[i];

		vertex->dominator = dominator == 0 ? UINT32_MAX : nest->vertex[dominator];
		vertex->is_reachable = i < nest->first_dead;
		vertex->loop_depth = vertex->is_loop_head;
		if (outside != 0)
			vertex->loop_depth += vertices[nest->vertex[outside]].loop_depth;
	}
}

void lode_loop_nest_find(const LodeLoopGraph *graph, const uint32_t *roots, size_t n_roots,
	LodeLoopVertex *out_vertices)
{
	Nest nest;

	if (graph->n == 0)
		return;
	memset(out_vertices, 0, graph->n * sizeof *out_vertices);
	nest_init(&nest, graph);
	search_all(&nest, roots, n_roots);
	collect_predecessors(&nest);
	find_dominators(&nest);
	find_loops(&nest, out_vertices);
	store(&nest, out_vertices);
	g_free(nest.memory);
}
