/* SPDX-License-Identifier: MIT */
#include "ingest/join/loops/natural_loops.h"

void lode_natural_loop_init(LodeNaturalLoop *self)
{
	*self = (LodeNaturalLoop){
		.body = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.marks = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
	};
}

void lode_natural_loop_clear(LodeNaturalLoop *self)
{
	g_clear_pointer(&self->body, g_array_unref);
	g_clear_pointer(&self->marks, g_array_unref);
}

void lode_natural_loop_begin(LodeNaturalLoop *self, const LodeDependenceGraph *graph)
{
	self->graph = graph;
	self->n_loops = 0;
	g_array_set_size(self->body, 0);
	g_array_set_size(self->marks, 0);
	g_array_set_size(self->marks, graph->n);
}

static uint32_t *marks_of(LodeNaturalLoop *self)
{
	return (uint32_t *)(void *)self->marks->data;
}

/* Adds to the body what leads to `latch` without the head. False: control comes from outside, so
 * that the way from `latch` to the head is none of the loop. */
static bool add_body(LodeNaturalLoop *self, uint32_t head, uint32_t latch)
{
	const LodeDependenceGraph *graph = self->graph;
	uint32_t *marks = marks_of(self), depth = graph->nodes[head].loop_depth;
	guint first = self->body->len;

	if (marks[latch] == self->n_loops)
		return true;
	g_array_append_val(self->body, latch);
	marks[latch] = self->n_loops;
	for (guint i = first; i < self->body->len; i++) {
		uint32_t node = g_array_index(self->body, uint32_t, i);
		uint32_t way = graph->first_ways[node], end = graph->first_ways[node + 1];
		/* A head as deep as this one is that of the loop before it. */
		bool is_outside = way == end || graph->nodes[node].loop_depth < depth ||
		                  (graph->nodes[node].is_loop_head &&
					  graph->nodes[node].loop_depth == depth);
		for (; way < end && !is_outside; way++) {
			uint32_t source = graph->ways[way].source;
			if (marks[source] == self->n_loops)
				continue;
			marks[source] = self->n_loops;
			g_array_append_val(self->body, source);
		}
		if (is_outside) {
			for (guint k = first; k < self->body->len; k++)
				marks[g_array_index(self->body, uint32_t, k)] = 0;
			g_array_set_size(self->body, first);
			return false;
		}
	}
	return true;
}

bool lode_natural_loop_find(LodeNaturalLoop *self, uint32_t head)
{
	const LodeDependenceGraph *graph = self->graph;

	self->n_loops++;
	g_array_set_size(self->body, 0);
	g_array_append_val(self->body, head);
	marks_of(self)[head] = self->n_loops;
	bool has_back_edge = false;
	for (uint32_t w = graph->first_ways[head]; w < graph->first_ways[head + 1]; w++)
		has_back_edge |= add_body(self, head, graph->ways[w].source);
	return has_back_edge;
}

bool lode_natural_loop_has_inner(const LodeNaturalLoop *self)
{
	for (guint i = 1; i < self->body->len; i++)
		if (self->graph->nodes[g_array_index(self->body, uint32_t, i)].is_loop_head)
			return true;
	return false;
}
