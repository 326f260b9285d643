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

struct LodeMinCostFlow {
	uint32_t n_nodes, n_arcs, max_arcs;
	LodeMinCostArc *arcs;
	uint32_t *positions; /* of each arc's forward half */
	HalfArc *half;
	uint32_t *starts;
	int64_t *excess, *potential;
	int64_t *distance; /* UNREACHED between searches */
	uint32_t *level;   /* of the breadth-first search; NO_LEVEL between them */
	uint32_t *cursor;  /* next half-arc to try */
	uint32_t *heap, *heap_slot;
	uint32_t heap_size;
	uint32_t *reached; /* nodes of the search under way, in the order they were found */
	uint32_t n_reached;
	uint32_t *path;    /* half-arcs */
	uint32_t *senders; /* nodes that have had an excess */
	uint32_t n_senders;
	uint32_t *needers; /* nodes that have had a need */
	uint32_t n_needers;
	uint64_t work_left;
};

#define UNREACHED INT64_MAX
#define NO_LEVEL UINT32_MAX
#define DEAD_END (UINT32_MAX - 1) /* all that leads down from here is full */

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
	g_free(self->level);
	g_free(self->cursor);
	g_free(self->heap);
	g_free(self->heap_slot);
	g_free(self->reached);
	g_free(self->path);
	g_free(self->senders);
	g_free(self->needers);
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
	self->level = g_try_new(uint32_t, n + 1);
	self->cursor = g_try_new(uint32_t, n + 1);
	self->heap = g_try_new(uint32_t, n + 1);
	self->heap_slot = g_try_new(uint32_t, n + 1);
	self->reached = g_try_new(uint32_t, n + 1);
	self->path = g_try_new(uint32_t, n + 1);
	self->senders = g_try_new(uint32_t, n + 1);
	self->needers = g_try_new(uint32_t, n + 1);
	return self->arcs != NULL && self->positions != NULL && self->half != NULL &&
	       self->starts != NULL && self->excess != NULL && self->potential != NULL &&
	       self->distance != NULL && self->level != NULL && self->cursor != NULL &&
	       self->heap != NULL && self->heap_slot != NULL && self->reached != NULL &&
	       self->path != NULL && self->senders != NULL && self->needers != NULL;
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

/* A binary heap of nodes by distance, equal ones by number. */
static inline bool is_nearer(const LodeMinCostFlow *self, uint32_t a, uint32_t b)
{
	return self->distance[a] < self->distance[b] ||
	       (self->distance[a] == self->distance[b] && a < b);
}

static inline void heap_set(LodeMinCostFlow *self, uint32_t slot, uint32_t node)
{
	self->heap[slot] = node;
	self->heap_slot[node] = slot;
}

static void heap_rise(LodeMinCostFlow *self, uint32_t node)
{
	uint32_t slot = self->heap_slot[node];

	while (slot > 0 && is_nearer(self, node, self->heap[(slot - 1) / 2])) {
		heap_set(self, slot, self->heap[(slot - 1) / 2]);
		slot = (slot - 1) / 2;
	}
	heap_set(self, slot, node);
}

static uint32_t heap_pop(LodeMinCostFlow *self)
{
	uint32_t nearest = self->heap[0], node = self->heap[--self->heap_size];
	uint32_t slot = 0;

	for (uint32_t child; (child = 2 * slot + 1) < self->heap_size; slot = child) {
		if (child + 1 < self->heap_size &&
			is_nearer(self, self->heap[child + 1], self->heap[child]))
			child++;
		if (!is_nearer(self, self->heap[child], node))
			break;
		heap_set(self, slot, self->heap[child]);
	}
	heap_set(self, slot, node);
	return nearest;
}

static inline void approach(LodeMinCostFlow *self, uint32_t node, int64_t distance)
{
	if (distance >= self->distance[node])
		return;
	if (self->distance[node] == UNREACHED) {
		self->reached[self->n_reached++] = node;
		heap_set(self, self->heap_size++, node);
	}
	self->distance[node] = distance;
	heap_rise(self, node);
}

/* Keeps the nodes that still have something to send (sign 1) or need it (sign −1). */
static void drop_idle(const int64_t *excess, uint32_t *nodes, uint32_t *n_nodes, int sign)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < *n_nodes; i++)
		if (excess[nodes[i]] * sign > 0)
			nodes[n++] = nodes[i];
	*n_nodes = n;
}

/* The distance of the nearest node in need; UNREACHED where there is none, or no work left. */
static int64_t find_nearest_need(LodeMinCostFlow *self)
{
	for (uint32_t i = 0; i < self->n_senders; i++)
		approach(self, self->senders[i], 0);
	while (self->heap_size > 0) {
		uint32_t tail = heap_pop(self);

		if (self->excess[tail] < 0)
			return self->distance[tail];
		if (!spend(self, self->starts[tail + 1] - self->starts[tail] + 1))
			return UNREACHED;
		for (uint32_t i = self->starts[tail]; i < self->starts[tail + 1]; i++) {
			const HalfArc *arc = &self->half[i];
			if (arc->residual > 0)
				approach(self, arc->head,
					self->distance[tail] + reduced_cost(self, tail, arc));
		}
	}
	return UNREACHED;
}

/* One phase's distances go into the potentials. False where no node in need can be reached. */
static bool update_potentials(LodeMinCostFlow *self)
{
	self->n_reached = 0;
	self->heap_size = 0;
	int64_t nearest = find_nearest_need(self);
	for (uint32_t i = 0; i < self->n_reached; i++) {
		uint32_t v = self->reached[i];
		if (nearest != UNREACHED && self->distance[v] < nearest)
			self->potential[v] += self->distance[v] - nearest;
		self->distance[v] = UNREACHED;
	}
	return nearest != UNREACHED;
}

static inline bool is_admissible(const LodeMinCostFlow *self, uint32_t tail, const HalfArc *arc)
{
	return arc->residual > 0 && reduced_cost(self, tail, arc) == 0;
}

static void enter_level(LodeMinCostFlow *self, uint32_t node, uint32_t level)
{
	if (self->level[node] != NO_LEVEL)
		return;
	self->level[node] = level;
	self->cursor[node] = self->starts[node];
	self->reached[self->n_reached++] = node;
}

/* The nodes that can send to `head` on an admissible half-arc are a level farther from a need. */
static void enter_tails(LodeMinCostFlow *self, uint32_t head)
{
	for (uint32_t i = self->starts[head]; i < self->starts[head + 1]; i++) {
		const HalfArc *arc = &self->half[i];
		if (self->level[arc->head] == NO_LEVEL && reduced_cost(self, head, arc) == 0 &&
			self->half[arc->twin].residual > 0)
			enter_level(self, arc->head, self->level[head] + 1);
	}
}

/* Levels: steps to the nearest node in need, until all senders have theirs. */
static bool find_levels(LodeMinCostFlow *self)
{
	uint32_t n_waiting = 0, n_found = 0;

	self->n_reached = 0;
	drop_idle(self->excess, self->senders, &self->n_senders, 1);
	drop_idle(self->excess, self->needers, &self->n_needers, -1);
	n_waiting = self->n_senders;
	for (uint32_t i = 0; i < self->n_needers; i++)
		enter_level(self, self->needers[i], 0);
	for (uint32_t next = 0; next < self->n_reached && n_waiting > 0; next++) {
		uint32_t head = self->reached[next];

		if (self->excess[head] > 0) {
			n_waiting--;
			n_found++;
		}
		if (!spend(self, self->starts[head + 1] - self->starts[head] + 1))
			return false;
		enter_tails(self, head);
	}
	return n_found > 0;
}

/* Sends what fits along the path; gives how much of the path is left for the next one. */
static uint32_t send_along(LodeMinCostFlow *self, uint32_t source, uint32_t length, uint32_t target)
{
	int64_t amount = MIN(self->excess[source], -self->excess[target]);
	uint32_t kept = length;

	for (uint32_t i = 0; i < length; i++)
		amount = MIN(amount, self->half[self->path[i]].residual);
	for (uint32_t i = length; i-- > 0;) {
		HalfArc *arc = &self->half[self->path[i]];
		arc->residual -= amount;
		self->half[arc->twin].residual += amount;
		if (arc->residual == 0)
			kept = i;
	}
	self->excess[source] -= amount;
	self->excess[target] += amount;
	return kept;
}

/* Moves the cursor of `tail` to the next half-arc that leads a level down; NULL: there is none. */
static HalfArc *next_half_arc(LodeMinCostFlow *self, uint32_t tail)
{
	uint32_t first = self->cursor[tail], level = self->level[tail];

	for (; self->cursor[tail] < self->starts[tail + 1]; self->cursor[tail]++) {
		HalfArc *arc = &self->half[self->cursor[tail]];
		if (level > 0 && self->level[arc->head] == level - 1 &&
			is_admissible(self, tail, arc)) {
			spend(self, self->cursor[tail] - first);
			return arc;
		}
	}
	spend(self, self->cursor[tail] - first);
	return NULL;
}

static inline uint32_t tail_of(const LodeMinCostFlow *self, uint32_t half)
{
	return self->half[self->half[half].twin].head;
}

/* Sends from one node all that the levels let pass. */
static void block_from(LodeMinCostFlow *self, uint32_t source)
{
	uint32_t length = 0, node = source;

	if (self->level[source] >= DEAD_END)
		return;
	while (self->excess[source] > 0 && spend(self, 1)) {
		if (self->excess[node] < 0) {
			spend(self, length);
			length = send_along(self, source, length, node);
			/* Where nothing is full, the node's own need was met: go back from it. */
			node = length == 0 ? source : self->half[self->path[length - 1]].head;
			continue;
		}
		HalfArc *arc = next_half_arc(self, node);
		if (arc != NULL) {
			self->path[length++] = self->cursor[node];
			node = arc->head;
			continue;
		}
		self->level[node] = DEAD_END;
		if (length == 0)
			return;
		node = tail_of(self, self->path[--length]);
	}
}

static void send_along_shortest(LodeMinCostFlow *self)
{
	bool is_more = true;

	while (is_more) {
		is_more = find_levels(self);
		for (uint32_t i = 0; is_more && i < self->n_senders; i++)
			block_from(self, self->senders[i]);
		for (uint32_t i = 0; i < self->n_reached; i++)
			self->level[self->reached[i]] = NO_LEVEL;
	}
}

LodeMinCostFlowStatus lode_min_cost_flow_solve(LodeMinCostFlow *self, uint64_t max_work)
{
	self->work_left = max_work;
	link_arcs(self);
	for (uint32_t v = 0; v < self->n_nodes; v++) {
		self->distance[v] = UNREACHED;
		self->level[v] = NO_LEVEL;
		if (self->excess[v] > 0)
			self->senders[self->n_senders++] = v;
		else if (self->excess[v] < 0)
			self->needers[self->n_needers++] = v;
	}
	while (self->n_senders > 0 && update_potentials(self)) {
		send_along_shortest(self);
		drop_idle(self->excess, self->senders, &self->n_senders, 1);
	}
	if (self->n_senders == 0)
		return LODE_MIN_COST_FLOW_OPTIMAL;
	return self->work_left == 0 ? LODE_MIN_COST_FLOW_LIMITED : LODE_MIN_COST_FLOW_INFEASIBLE;
}
