/* SPDX-License-Identifier: MIT */
/* Counts in a frame which blocks follow which. */
#include "traces/flow_edges.h"

#include "base/hash.h"

enum { FIRST_SIZE = 1 << 12 };

void lode_flow_edges_init(LodeFlowEdges *self)
{
	self->edges = NULL;
	self->room = 0;
	self->n = 0;
	self->table = g_new0(uint32_t, FIRST_SIZE);
	self->mask = FIRST_SIZE - 1;
}

void lode_flow_edges_clear(LodeFlowEdges *self)
{
	g_free(self->edges);
	g_free(self->table);
	*self = (LodeFlowEdges){0};
}

static uint32_t first_place(const LodeFlowEdges *self, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to;

	return (uint32_t)lode_hash_slot(key, 32) & self->mask;
}

static void grow_table(LodeFlowEdges *self)
{
	uint32_t size = (self->mask + 1) * 2;

	g_free(self->table);
	self->table = g_new0(uint32_t, size);
	self->mask = size - 1;
	for (uint32_t i = 0; i < self->n; i++) {
		uint32_t at = first_place(self, self->edges[i].from, self->edges[i].to);

		while (self->table[at] != 0)
			at = (at + 1) & self->mask;
		self->table[at] = i + 1;
	}
}

uint32_t lode_flow_edges_add(LodeFlowEdges *self, uint32_t from, uint32_t to)
{
	uint32_t at = first_place(self, from, to);

	for (; self->table[at] != 0; at = (at + 1) & self->mask) {
		LodeFlowEdge *edge = &self->edges[self->table[at] - 1];

		if (edge->from == from && edge->to == to) {
			edge->count++;
			return self->table[at] - 1;
		}
	}
	if (self->n == self->room) {
		self->room = MAX(self->room * 2, FIRST_SIZE);
		self->edges = g_renew(LodeFlowEdge, self->edges, self->room);
	}
	self->edges[self->n] = (LodeFlowEdge){from, to, 1, 0};
	self->table[at] = ++self->n;
	if (self->n * 2 > self->mask)
		grow_table(self);
	return self->n - 1;
}

/* By the block that they leave, then the most frequent, then the first to appear. */
static int compare_edges(gconstpointer a, gconstpointer b, gpointer data)
{
	const LodeFlowEdge *edges = data;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const LodeFlowEdge *x = &edges[i], *y = &edges[k];

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return i < k ? -1 : i > k;
}

void lode_flow_edges_list(LodeFlowEdges *self, LodeBlockFlow *flow)
{
	g_autofree uint32_t *order = g_new(uint32_t, self->n + 1U);

	for (uint32_t i = 0; i < self->n; i++)
		order[i] = i;
	g_qsort_with_data(order, (int)self->n, sizeof(*order), compare_edges, self->edges);
	g_free(flow->targets);
	flow->targets = g_new(uint32_t, self->n + 1U);
	flow->n_targets = self->n;
	for (uint32_t i = 0; i < self->n; i++) {
		LodeFlowEdge *edge = &self->edges[order[i]];
		LodeFlowNode *node = &flow->nodes[edge->from];

		if (node->n_edges == 0)
			node->first_edge = i;
		edge->rank = node->n_edges++;
		flow->targets[i] = edge->to;
	}
}
