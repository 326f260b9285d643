/* SPDX-License-Identifier: MIT */
/*
 * Flow along trees of shortest paths from the hub and back to it, where an arc that has flow costs
 * nothing and one without costs a step: the flow passes as few blocks as possible that would
 * otherwise not have run.
 */
#include "ingest/inference/flow_network.h"

typedef struct {
	uint32_t *from_hub, *to_hub;     /* node → its arc in the tree; NO_ARC: the hub */
	uint32_t *from_order, *to_order; /* nodes, the hub first, each after the next on its way */
} Trees;

#define NO_ARC UINT32_MAX

static void trees_clear(Trees *self)
{
	g_free(self->from_hub);
	g_free(self->to_hub);
	g_free(self->from_order);
	g_free(self->to_order);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Trees, trees_clear)

/* The state of a search of one tree. */
typedef struct {
	const LodeFlowNetwork *network;
	bool is_forward;
	uint32_t *tree, *order;
	uint32_t *steps, *near, *far; /* node → steps; nodes of this many steps, and of one more */
	bool *is_done;
	uint32_t n_near, n_far;
} Search;

/* Dijkstra with two lists instead of a heap (0-1 BFS), since a step costs 0 or 1. */
static void relax_arcs(Search *self, uint32_t v)
{
	const LodeFlowNetwork *network = self->network;
	const uint32_t *starts = self->is_forward ? network->out_starts : network->in_starts;
	const uint32_t *list = self->is_forward ? network->out_arcs : network->in_arcs;

	for (uint32_t i = starts[v]; i < starts[v + 1]; i++) {
		const LodeFlowArc *arc = &network->arcs[list[i]];
		uint32_t next = self->is_forward ? arc->target : arc->source;
		uint32_t steps = self->steps[v] + (arc->flow == 0);

		if (steps >= self->steps[next])
			continue;
		self->steps[next] = steps;
		self->tree[next] = list[i];
		if (steps == self->steps[v])
			self->near[self->n_near++] = next;
		else
			self->far[self->n_far++] = next;
	}
}

static void grow_tree(Search *self)
{
	uint32_t n_done = 0, hub = self->network->hub;

	for (uint32_t v = 0; v < self->network->n_nodes; v++) {
		self->steps[v] = UINT32_MAX;
		self->is_done[v] = false;
		self->tree[v] = NO_ARC;
	}
	self->steps[hub] = 0;
	self->near[0] = hub;
	self->n_near = 1;
	self->n_far = 0;
	while (self->n_near > 0) {
		uint32_t v = self->near[--self->n_near];
		if (!self->is_done[v]) {
			self->is_done[v] = true;
			self->order[n_done++] = v;
			relax_arcs(self, v);
		}
		if (self->n_near > 0)
			continue;
		uint32_t *done = self->near;
		self->near = self->far;
		self->far = done;
		self->n_near = self->n_far;
		self->n_far = 0;
	}
}

static bool trees_init(Trees *self, const LodeFlowNetwork *network, GError **error)
{
	size_t n = network->n_nodes;
	/* A node enters each list once at most for each number of steps it is seen with: two. */
	g_autofree uint32_t *steps = g_try_new(uint32_t, n), *near = g_try_new(uint32_t, 2 * n),
			    *far = g_try_new(uint32_t, 2 * n);
	g_autofree bool *is_done = g_try_new(bool, n);

	*self = (Trees){g_try_new(uint32_t, n), g_try_new(uint32_t, n), g_try_new(uint32_t, n),
		g_try_new(uint32_t, n)};
	if (steps == NULL || near == NULL || far == NULL || is_done == NULL ||
		self->from_hub == NULL || self->to_hub == NULL || self->from_order == NULL ||
		self->to_order == NULL)
		return lode_flow_network_no_memory(error);
	Search search = {
		network, true, self->from_hub, self->from_order, steps, near, far, is_done, 0, 0};
	grow_tree(&search);
	search.is_forward = false;
	search.tree = self->to_hub;
	search.order = self->to_order;
	grow_tree(&search);
	return true;
}

/* Sends the amounts from the farthest nodes on, so that each arc is passed once. */
static void send_on_trees(
	LodeFlowNetwork *self, const Trees *trees, int64_t *from_hub, int64_t *to_hub)
{
	for (uint32_t i = self->n_order; i-- > 1;) {
		uint32_t v = trees->from_order[i];
		LodeFlowArc *arc = &self->arcs[trees->from_hub[v]];
		arc->flow += from_hub[v];
		from_hub[arc->source] += from_hub[v];

		v = trees->to_order[i];
		arc = &self->arcs[trees->to_hub[v]];
		arc->flow += to_hub[v];
		to_hub[arc->target] += to_hub[v];
	}
}

bool lode_flow_network_send(
	LodeFlowNetwork *self, const int64_t *from_hub, const int64_t *to_hub, GError **error)
{
	g_auto(Trees) trees = {0};

	if (!trees_init(&trees, self, error))
		return false;
	g_autofree int64_t *from = g_memdup2(from_hub, self->n_nodes * sizeof(*from));
	g_autofree int64_t *to = g_memdup2(to_hub, self->n_nodes * sizeof(*to));
	send_on_trees(self, &trees, from, to);
	return true;
}

/* Marks what flow reaches from a node. */
static void flood(const LodeFlowNetwork *self, uint32_t start, bool *is_reached, uint32_t *queue)
{
	uint32_t n = 0;

	if (is_reached[start])
		return;
	is_reached[start] = true;
	queue[n++] = start;
	for (uint32_t next = 0; next < n; next++) {
		uint32_t v = queue[next];
		for (uint32_t i = self->out_starts[v]; i < self->out_starts[v + 1]; i++) {
			const LodeFlowArc *arc = &self->arcs[self->out_arcs[i]];
			if (arc->flow > 0 && !is_reached[arc->target]) {
				is_reached[arc->target] = true;
				queue[n++] = arc->target;
			}
		}
	}
}

typedef struct {
	int64_t *from_hub, *to_hub;
	bool *is_reached;
	bool *is_left; /* the way from here to the hub has been flooded */
	uint32_t *queue;
} Joining;

static void joining_clear(Joining *self)
{
	g_free(self->from_hub);
	g_free(self->to_hub);
	g_free(self->is_reached);
	g_free(self->is_left);
	g_free(self->queue);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Joining, joining_clear)

static bool joining_init(Joining *self, uint32_t n, GError **error)
{
	self->from_hub = g_try_new0(int64_t, n);
	self->to_hub = g_try_new0(int64_t, n);
	self->is_reached = g_try_new0(bool, n);
	self->is_left = g_try_new0(bool, n);
	self->queue = g_try_new(uint32_t, n);
	if (self->from_hub != NULL && self->to_hub != NULL && self->is_reached != NULL &&
		self->is_left != NULL && self->queue != NULL)
		return true;
	return lode_flow_network_no_memory(error);
}

/* One unit from the hub through node v and back; the nodes on its way are reached then. */
static void join_node(const LodeFlowNetwork *self, const Trees *trees, Joining *join, uint32_t v)
{
	join->from_hub[v]++;
	join->to_hub[v]++;
	for (uint32_t u = v; !join->is_reached[u]; u = self->arcs[trees->from_hub[u]].source)
		flood(self, u, join->is_reached, join->queue);
	for (uint32_t u = v; u != self->hub && !join->is_left[u];
		u = self->arcs[trees->to_hub[u]].target) {
		join->is_left[u] = true;
		flood(self, u, join->is_reached, join->queue);
	}
}

/* A loop conserves flow without being entered, so that the cheapest flow may have one that nothing
 * leads to; no program runs so. */
bool lode_flow_network_join(LodeFlowNetwork *self, uint64_t *out_n_joined, GError **error)
{
	g_auto(Joining) join = {0};
	g_auto(Trees) trees = {0};
	uint64_t n = 0;

	if (!joining_init(&join, self->n_nodes, error))
		return false;
	flood(self, self->hub, join.is_reached, join.queue);
	for (uint32_t i = 0; i < self->n_arcs; i++) {
		uint32_t v = self->arcs[i].source;
		if (self->arcs[i].flow == 0 || join.is_reached[v])
			continue;
		if (n++ == 0 && !trees_init(&trees, self, error))
			return false;
		join_node(self, &trees, &join, v);
	}
	if (n > 0)
		send_on_trees(self, &trees, join.from_hub, join.to_hub);
	*out_n_joined = n;
	return true;
}
