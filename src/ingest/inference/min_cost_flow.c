/* SPDX-License-Identifier: MIT */
/*
 * An arc is two half-arcs, each other's twin, that lie in the lists of their tails:
 *
 *   half   │ arcs of node 0 │ arcs of node 1 │ …      starts[v] … starts[v + 1]
 *   residual: what may still be sent that way; cost: negative in the backward half
 *
 * Reduced cost of a half-arc u → v: cost + potential[u] − potential[v], never negative where
 * residual > 0. An admissible half-arc has residual > 0 and reduced cost 0.
 */
#include "ingest/inference/min_cost_flow.h"

#include <stdbool.h>
#include <string.h>

typedef struct {
	uint32_t head, twin;
	int64_t residual, cost;
} HalfArc;

/* Of what a search has found, what is looked at next; out of date where the node was found nearer
 * since. */
typedef struct {
	int64_t distance;
	uint32_t node;
} HeapEntry;

struct LodeMinCostFlow {
	uint32_t n_nodes, n_arcs, max_arcs;
	LodeMinCostArc *arcs;
	uint32_t *positions; /* of each arc's forward half */
	HalfArc *half;
	uint32_t *starts;
	int64_t *excess, *potential;
	int64_t *distance; /* UNREACHED between searches */
	uint32_t *arrival; /* half-arc by which the search came to a node */
	uint32_t *cursor;  /* next half-arc to fill in */
	HeapEntry *heap;   /* binary, one for each half-arc and one for the start */
	uint32_t heap_size;
	uint32_t *reached; /* nodes of the search under way, in the order they were found */
	uint32_t n_reached;
	uint64_t work_left;
};

#define UNREACHED INT64_MAX
#define NO_NODE UINT32_MAX

void lode_min_cost_flow_free(LodeMinCostFlow *self)
{
	if (self == NULL)
		return;
	g_free(self->arcs);
	g_free(self->positions);
	g_free(self->half);
	g_free(self->starts);
	g_free(self->excess);
	g_free(self->potential);
	g_free(self->distance);
	g_free(self->arrival);
	g_free(self->cursor);
	g_free(self->heap);
	g_free(self->reached);
	g_free(self);
}

static bool allocate(LodeMinCostFlow *self)
{
	size_t n = self->n_nodes, m = MAX(self->max_arcs, 1);

	self->arcs = g_try_new(LodeMinCostArc, m);
	self->positions = g_try_new(uint32_t, m);
	self->half = g_try_new(HalfArc, 2 * m);
	self->starts = g_try_new0(uint32_t, n + 2);
	self->excess = g_try_new0(int64_t, n + 1);
	self->potential = g_try_new0(int64_t, n + 1);
	self->distance = g_try_new(int64_t, n + 1);
	self->arrival = g_try_new(uint32_t, n + 1);
	self->cursor = g_try_new(uint32_t, n + 1);
	self->heap = g_try_new(HeapEntry, 2 * m + 1);
	self->reached = g_try_new(uint32_t, n + 1);
	return self->arcs != NULL && self->positions != NULL && self->half != NULL &&
	       self->starts != NULL && self->excess != NULL && self->potential != NULL &&
	       self->distance != NULL && self->arrival != NULL && self->cursor != NULL &&
	       self->heap != NULL && self->reached != NULL;
}

LodeMinCostFlow *lode_min_cost_flow_new(uint32_t n_nodes, uint32_t max_arcs)
{
	LodeMinCostFlow *self = g_new0(LodeMinCostFlow, 1);

	self->n_nodes = n_nodes;
	self->max_arcs = max_arcs;
	if (n_nodes == UINT32_MAX || max_arcs > UINT32_MAX / 2 || !allocate(self)) {
		lode_min_cost_flow_free(self);
		return NULL;
	}
	return self;
}

uint32_t lode_min_cost_flow_add_arc(LodeMinCostFlow *self, LodeMinCostArc arc)
{
	g_assert(self->n_arcs < self->max_arcs && arc.cost >= 0 && arc.capacity >= 0);
	self->arcs[self->n_arcs] = arc;
	return self->n_arcs++;
}

void lode_min_cost_flow_add_supply(LodeMinCostFlow *self, uint32_t node, int64_t amount)
{
	self->excess[node] += amount;
}

int64_t lode_min_cost_flow_sent(const LodeMinCostFlow *self, uint32_t arc)
{
	return self->arcs[arc].capacity - self->half[self->positions[arc]].residual;
}

int64_t lode_min_cost_flow_reduced_cost(const LodeMinCostFlow *self, uint32_t arc)
{
	const LodeMinCostArc *a = &self->arcs[arc];

	return a->cost + self->potential[a->source] - self->potential[a->target];
}

int64_t lode_min_cost_flow_excess(const LodeMinCostFlow *self, uint32_t node)
{
	return self->excess[node];
}

/* The lists of half-arcs, in the order the arcs were added. */
static void link_arcs(LodeMinCostFlow *self)
{
	for (uint32_t i = 0; i < self->n_arcs; i++) {
		self->starts[self->arcs[i].source + 1]++;
		self->starts[self->arcs[i].target + 1]++;
	}
	for (uint32_t v = 0; v < self->n_nodes; v++) {
		self->starts[v + 1] += self->starts[v];
		self->cursor[v] = self->starts[v];
	}
	for (uint32_t i = 0; i < self->n_arcs; i++) {
		const LodeMinCostArc *arc = &self->arcs[i];
		uint32_t forward = self->cursor[arc->source]++;
		uint32_t backward = self->cursor[arc->target]++;

		self->half[forward] = (HalfArc){arc->target, backward, arc->capacity, arc->cost};
		self->half[backward] = (HalfArc){arc->source, forward, 0, -arc->cost};
		self->positions[i] = forward;
	}
}

static inline int64_t reduced_cost(const LodeMinCostFlow *self, uint32_t tail, const HalfArc *arc)
{
	return arc->cost + self->potential[tail] - self->potential[arc->head];
}

/* Whether `n` more looks at an arc are within the bound. */
static inline bool spend(LodeMinCostFlow *self, uint64_t n)
{
	if (self->work_left < n) {
		self->work_left = 0;
		return false;
	}
	self->work_left -= n;
	return true;
}

/* By distance, equal ones by number. */
static inline bool is_nearer(HeapEntry a, HeapEntry b)
{
	return a.distance < b.distance || (a.distance == b.distance && a.node < b.node);
}

/* Puts the entry where `slot` is free, or above. */
static inline void heap_rise(LodeMinCostFlow *self, uint32_t slot, HeapEntry entry)
{
	HeapEntry *heap = self->heap;

	for (; slot > 0 && is_nearer(entry, heap[(slot - 1) / 2]); slot = (slot - 1) / 2)
		heap[slot] = heap[(slot - 1) / 2];
	heap[slot] = entry;
}

/* The place of the nearest goes down to a leaf, as the last entry mostly belongs there. */
static HeapEntry heap_pop(LodeMinCostFlow *self)
{
	HeapEntry *heap = self->heap, nearest = heap[0], last = heap[--self->heap_size];
	uint32_t slot = 0, size = self->heap_size;

	for (uint32_t child; (child = 2 * slot + 1) < size; slot = child) {
		child += child + 1 < size && is_nearer(heap[child + 1], heap[child]);
		heap[slot] = heap[child];
	}
	heap_rise(self, slot, last);
	return nearest;
}

static inline void approach(
	LodeMinCostFlow *self, uint32_t node, int64_t distance, uint32_t half_arc)
{
	if (distance >= self->distance[node])
		return;
	if (self->distance[node] == UNREACHED)
		self->reached[self->n_reached++] = node;
	self->distance[node] = distance;
	self->arrival[node] = half_arc;
	heap_rise(self, self->heap_size++, (HeapEntry){distance, node});
}

/* The node in need that is nearest to `source`; NO_NODE where there is none, or no work left. */
static uint32_t find_nearest_need(LodeMinCostFlow *self, uint32_t source)
{
	approach(self, source, 0, NO_NODE);
	while (self->heap_size > 0) {
		HeapEntry next = heap_pop(self);
		uint32_t tail = next.node;

		if (next.distance > self->distance[tail])
			continue;
		if (self->excess[tail] < 0)
			return tail;
		if (!spend(self, self->starts[tail + 1] - self->starts[tail] + 1))
			return NO_NODE;
		for (uint32_t i = self->starts[tail]; i < self->starts[tail + 1]; i++) {
			const HalfArc *arc = &self->half[i];
			if (arc->residual > 0)
				approach(self, arc->head,
					self->distance[tail] + reduced_cost(self, tail, arc), i);
		}
	}
	return NO_NODE;
}

/* The search's distances go into the potentials, so that the shortest paths have reduced cost 0.
 */
static void update_potentials(LodeMinCostFlow *self, uint32_t target)
{
	int64_t nearest = target != NO_NODE ? self->distance[target] : 0;

	for (uint32_t i = 0; i < self->n_reached; i++) {
		uint32_t v = self->reached[i];
		if (target != NO_NODE && self->distance[v] < nearest)
			self->potential[v] += self->distance[v] - nearest;
		self->distance[v] = UNREACHED;
	}
	self->n_reached = 0;
	self->heap_size = 0;
}

static inline uint32_t tail_of(const LodeMinCostFlow *self, uint32_t half)
{
	return self->half[self->half[half].twin].head;
}

/* Sends what fits along the path that the search found. */
static void send_along(LodeMinCostFlow *self, uint32_t source, uint32_t target)
{
	int64_t amount = MIN(self->excess[source], -self->excess[target]);

	for (uint32_t v = target; v != source; v = tail_of(self, self->arrival[v]))
		amount = MIN(amount, self->half[self->arrival[v]].residual);
	for (uint32_t v = target; v != source; v = tail_of(self, self->arrival[v])) {
		HalfArc *arc = &self->half[self->arrival[v]];
		arc->residual -= amount;
		self->half[arc->twin].residual += amount;
	}
	self->excess[source] -= amount;
	self->excess[target] += amount;
}

LodeMinCostFlowStatus lode_min_cost_flow_solve(LodeMinCostFlow *self, uint64_t max_work)
{
	bool is_done = true;

	self->work_left = max_work;
	link_arcs(self);
	for (uint32_t v = 0; v < self->n_nodes; v++)
		self->distance[v] = UNREACHED;
	for (uint32_t v = 0; v < self->n_nodes; v++)
		while (self->excess[v] > 0 && is_done) {
			uint32_t target = find_nearest_need(self, v);
			update_potentials(self, target);
			is_done = target != NO_NODE;
			if (is_done)
				send_along(self, v, target);
		}
	if (is_done)
		return LODE_MIN_COST_FLOW_OPTIMAL;
	return self->work_left == 0 ? LODE_MIN_COST_FLOW_LIMITED : LODE_MIN_COST_FLOW_INFEASIBLE;
}
