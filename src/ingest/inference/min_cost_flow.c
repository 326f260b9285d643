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

/* An entry of a search's queue; out of date if its node was found nearer since. */
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
	uint32_t *level;   /* of the blocking flows; NO_LEVEL between them */
	uint32_t *path;    /* half-arcs */
	uint32_t *senders; /* nodes with an excess, once all search together */
	uint32_t n_senders;
	uint32_t *needers; /* nodes with a need */
	uint32_t n_needers;
	uint64_t work_left;
};

#define UNREACHED INT64_MAX
#define NO_NODE UINT32_MAX
#define NO_LEVEL UINT32_MAX
#define DEAD_END (UINT32_MAX - 1) /* all that leads down from here is full */

/* Visits of an arc after which all nodes search together. Most functions of 40 blocks need fewer;
 * one of 20,000 blocks takes a tenth of the time of searches one by one. */
enum { WORK_ONE_BY_ONE = 1 << 16 };

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
	g_free(self->level);
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
	self->arrival = g_try_new(uint32_t, n + 1);
	self->cursor = g_try_new(uint32_t, n + 1);
	self->heap = g_try_new(HeapEntry, 2 * m + 1);
	self->reached = g_try_new(uint32_t, n + 1);
	self->level = g_try_new(uint32_t, n + 1);
	self->path = g_try_new(uint32_t, n + 1);
	self->senders = g_try_new(uint32_t, n + 1);
	self->needers = g_try_new(uint32_t, n + 1);
	return self->arcs != NULL && self->positions != NULL && self->half != NULL &&
	       self->starts != NULL && self->excess != NULL && self->potential != NULL &&
	       self->distance != NULL && self->arrival != NULL && self->cursor != NULL &&
	       self->heap != NULL && self->reached != NULL && self->level != NULL &&
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

/* Goes on from a node whose distance is final. False where no work is left. */
static inline bool search_from(LodeMinCostFlow *self, uint32_t tail)
{
	if (!spend(self, self->starts[tail + 1] - self->starts[tail] + 1))
		return false;
	for (uint32_t i = self->starts[tail]; i < self->starts[tail + 1]; i++) {
		const HalfArc *arc = &self->half[i];
		if (arc->residual > 0)
			approach(self, arc->head,
				self->distance[tail] + reduced_cost(self, tail, arc), i);
	}
	return true;
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
		if (!search_from(self, tail))
			return NO_NODE;
	}
	return NO_NODE;
}

/* The search's distances, all final that are below `farthest`, go into the potentials, so that the
 * shortest paths have reduced cost 0. */
static void update_potentials(LodeMinCostFlow *self, int64_t farthest)
{
	for (uint32_t i = 0; i < self->n_reached; i++) {
		uint32_t v = self->reached[i];
		if (self->distance[v] < farthest)
			self->potential[v] += self->distance[v] - farthest;
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

/* False where a node cannot send all it has, or no work is left. */
static bool send_one_by_one(LodeMinCostFlow *self, uint64_t max_work)
{
	uint64_t enough = self->work_left - MIN(self->work_left, max_work);

	for (uint32_t v = 0; v < self->n_nodes; v++)
		while (self->excess[v] > 0 && self->work_left >= enough) {
			uint32_t target = find_nearest_need(self, v);
			update_potentials(self, target != NO_NODE ? self->distance[target] : 0);
			if (target == NO_NODE)
				return false;
			send_along(self, v, target);
		}
	return true;
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

/* From all senders to all needs: afterwards each need that can be reached has a path of reduced
 * cost 0 from the sender that is nearest to it. False where there is none, or no work left. */
static bool find_all_needs(LodeMinCostFlow *self)
{
	uint32_t n_found = 0;
	int64_t farthest = 0;
	bool has_work = true;

	for (uint32_t i = 0; i < self->n_senders; i++)
		approach(self, self->senders[i], 0, NO_NODE);
	while (self->heap_size > 0 && n_found < self->n_needers && has_work) {
		HeapEntry next = heap_pop(self);

		if (next.distance > self->distance[next.node])
			continue;
		if (self->excess[next.node] < 0) {
			farthest = next.distance;
			n_found++;
		}
		has_work = search_from(self, next.node);
	}
	update_potentials(self, has_work ? farthest : 0);
	return has_work && n_found > 0;
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
	uint32_t n_found = 0;

	drop_idle(self->excess, self->senders, &self->n_senders, 1);
	drop_idle(self->excess, self->needers, &self->n_needers, -1);
	for (uint32_t i = 0; i < self->n_needers; i++)
		enter_level(self, self->needers[i], 0);
	for (uint32_t next = 0; next < self->n_reached && n_found < self->n_senders; next++) {
		uint32_t head = self->reached[next];

		n_found += self->excess[head] > 0;
		if (!spend(self, self->starts[head + 1] - self->starts[head] + 1))
			return false;
		enter_tails(self, head);
	}
	return n_found > 0;
}

/* Sends what fits along the path; gives how much of the path is left for the next one. */
static uint32_t send_along_levels(
	LodeMinCostFlow *self, uint32_t source, uint32_t length, uint32_t target)
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
	HalfArc *found = NULL;

	for (; self->cursor[tail] < self->starts[tail + 1]; self->cursor[tail]++) {
		HalfArc *arc = &self->half[self->cursor[tail]];
		if (level > 0 && self->level[arc->head] == level - 1 &&
			is_admissible(self, tail, arc)) {
			found = arc;
			break;
		}
	}
	spend(self, self->cursor[tail] - first);
	return found;
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
			length = send_along_levels(self, source, length, node);
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

/* A flow as large as the admissible half-arcs let pass (E. A. Dinic, 1970). */
static void send_along_shortest(LodeMinCostFlow *self)
{
	bool is_more = true;

	while (is_more) {
		is_more = find_levels(self);
		for (uint32_t i = 0; is_more && i < self->n_senders; i++)
			block_from(self, self->senders[i]);
		for (uint32_t i = 0; i < self->n_reached; i++)
			self->level[self->reached[i]] = NO_LEVEL;
		self->n_reached = 0;
	}
}

/* False where some cannot send all they have, or no work is left. */
static bool send_together(LodeMinCostFlow *self)
{
	for (uint32_t v = 0; v < self->n_nodes; v++) {
		self->level[v] = NO_LEVEL;
		if (self->excess[v] > 0)
			self->senders[self->n_senders++] = v;
		else if (self->excess[v] < 0)
			self->needers[self->n_needers++] = v;
	}
	while (self->n_senders > 0 && find_all_needs(self)) {
		send_along_shortest(self);
		drop_idle(self->excess, self->senders, &self->n_senders, 1);
		drop_idle(self->excess, self->needers, &self->n_needers, -1);
	}
	return self->n_senders == 0;
}

LodeMinCostFlowStatus lode_min_cost_flow_solve(LodeMinCostFlow *self, uint64_t max_work)
{
	self->work_left = max_work;
	link_arcs(self);
	for (uint32_t v = 0; v < self->n_nodes; v++)
		self->distance[v] = UNREACHED;
	if (send_one_by_one(self, WORK_ONE_BY_ONE) && send_together(self))
		return LODE_MIN_COST_FLOW_OPTIMAL;
	return self->work_left == 0 ? LODE_MIN_COST_FLOW_LIMITED : LODE_MIN_COST_FLOW_INFEASIBLE;
}
