/* SPDX-License-Identifier: MIT */
/*
 * The network of a function, what each change of a measured count costs, and its cheapest flow. The
 * solver is given the changes, not the flow: where the measured counts leave a node out of balance,
 * the node has a supply, and arcs to both sides of each count say what a unit more or less costs.
 */
#include "ingest/inference/flow_network.h"

#include "base/error.h"
#include "ingest/inference/min_cost_flow.h"

#include <math.h>

/* Per unit. See docs/inside/inference.md for where they come from. */
enum {
	COST_BLOCK_INCREASE = 10,
	COST_BLOCK_DECREASE = 10,
	COST_ZERO_BLOCK_INCREASE = 11,
	COST_ENTRY_INCREASE = 10,
	COST_ENTRY_DECREASE = 10,
	COST_UNKNOWN_BLOCK_INCREASE = 0,
	COST_EDGE_INCREASE = 10,
	COST_EDGE_DECREASE = 20,
	COST_UNKNOWN_EDGE_INCREASE = 0,
	MAX_WEIGHT = 1 << 14, /* instructions; keeps the cost of a path within 63 bits */
	COST_STUCK_EXIT = 5,  /* leaving a block that no exit can be reached from */
};

bool lode_flow_network_no_memory(GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"the control flow graph is too large to infer its counts in memory");
	return false;
}

void lode_flow_network_clear(LodeFlowNetwork *self)
{
	g_free(self->arcs);
	g_free(self->out_starts);
	g_free(self->out_arcs);
	g_free(self->in_starts);
	g_free(self->in_arcs);
	g_free(self->order);
	g_free(self->rank);
	*self = (LodeFlowNetwork){0};
}

static bool allocate(LodeFlowNetwork *self, size_t max_arcs)
{
	size_t n = self->n_nodes;

	self->arcs = g_try_new(LodeFlowArc, max_arcs);
	self->out_starts = g_try_new(uint32_t, n + 1);
	self->out_arcs = g_try_new(uint32_t, max_arcs);
	self->in_starts = g_try_new(uint32_t, n + 1);
	self->in_arcs = g_try_new(uint32_t, max_arcs);
	self->order = g_try_new(uint32_t, n);
	self->rank = g_try_new(uint32_t, n);
	return self->arcs != NULL && self->out_starts != NULL && self->out_arcs != NULL &&
	       self->in_starts != NULL && self->in_arcs != NULL && self->order != NULL &&
	       self->rank != NULL;
}

static LodeFlowArc *add_arc(
	LodeFlowNetwork *self, uint32_t source, uint32_t target, uint32_t item, double count)
{
	LodeFlowArc *arc = &self->arcs[self->n_arcs++];

	*arc = (LodeFlowArc){.source = source, .target = target, .item = item};
	arc->is_known = count >= 0;
	if (arc->is_known)
		arc->count = (int64_t)round(count);
	return arc;
}

static void add_block(
	LodeFlowNetwork *self, const LodeInferenceGraph *graph, uint32_t b, double unit)
{
	const LodeInferenceBlock *block = &graph->blocks[b];
	LodeFlowArc *arc = add_arc(self, 2 * b, 2 * b + 1, b, block->count / unit);

	arc->increase = COST_UNKNOWN_BLOCK_INCREASE;
	if (!arc->is_known)
		return;
	arc->weight = (int64_t)fmin(round(block->weight), MAX_WEIGHT);
	if (arc->weight > 0)
		return;
	arc->decrease = b == 0 ? COST_ENTRY_DECREASE : COST_BLOCK_DECREASE;
	if (b == 0)
		arc->increase = COST_ENTRY_INCREASE;
	else
		arc->increase = arc->count == 0 ? COST_ZERO_BLOCK_INCREASE : COST_BLOCK_INCREASE;
}

static void add_edge(
	LodeFlowNetwork *self, const LodeInferenceGraph *graph, uint32_t e, double unit)
{
	const LodeInferenceEdge *edge = &graph->edges[e];
	LodeFlowArc *arc = add_arc(self, 2 * edge->source + 1, 2 * edge->target,
		graph->n_blocks + e, edge->count / unit);

	arc->decrease = COST_EDGE_DECREASE;
	arc->increase = arc->is_known ? COST_EDGE_INCREASE : COST_UNKNOWN_EDGE_INCREASE;
}

static void add_arcs(LodeFlowNetwork *self, const LodeInferenceGraph *graph, double unit)
{
	g_autofree bool *has_edges = g_new0(bool, graph->n_blocks);

	for (uint32_t b = 0; b < graph->n_blocks; b++)
		add_block(self, graph, b, unit);
	for (uint32_t e = 0; e < graph->n_edges; e++) {
		add_edge(self, graph, e, unit);
		has_edges[graph->edges[e].source] = true;
	}
	for (uint32_t b = 0; b < graph->n_blocks; b++) {
		if (b == 0 || graph->blocks[b].is_entry)
			add_arc(self, self->hub, 2 * b, LODE_FLOW_OUTSIDE, -1);
		if (graph->blocks[b].is_exit || !has_edges[b])
			add_arc(self, 2 * b + 1, self->hub, LODE_FLOW_OUTSIDE, -1);
	}
}

/* Lists the arcs by the node at one of their ends. */
static void list_arcs(const LodeFlowNetwork *self, bool by_source, uint32_t *starts, uint32_t *list)
{
	for (uint32_t v = 0; v <= self->n_nodes; v++)
		starts[v] = 0;
	for (uint32_t i = 0; i < self->n_arcs; i++)
		starts[by_source ? self->arcs[i].source : self->arcs[i].target]++;
	for (uint32_t v = 0; v < self->n_nodes; v++)
		starts[v + 1] += starts[v];
	/* From the last arc to the first, so that each list ascends and each start, which was the
	 * end of its list, has come down to where the list begins. */
	for (uint32_t i = self->n_arcs; i-- > 0;)
		list[--starts[by_source ? self->arcs[i].source : self->arcs[i].target]] = i;
}

static void link_arcs(LodeFlowNetwork *self)
{
	list_arcs(self, true, self->out_starts, self->out_arcs);
	list_arcs(self, false, self->in_starts, self->in_arcs);
}

/* Depth first from the hub; `cursor` and `stack` have room for all nodes. */
static void order_nodes(LodeFlowNetwork *self, uint32_t *cursor, uint32_t *stack)
{
	uint32_t n_stack = 0, n_left = self->n_nodes;

	for (uint32_t v = 0; v < self->n_nodes; v++) {
		cursor[v] = self->out_starts[v];
		self->rank[v] = UINT32_MAX;
	}
	stack[n_stack++] = self->hub;
	self->rank[self->hub] = 0;
	while (n_stack > 0) {
		uint32_t v = stack[n_stack - 1];
		if (cursor[v] == self->out_starts[v + 1]) {
			self->order[--n_left] = v;
			n_stack--;
			continue;
		}
		uint32_t next = self->arcs[self->out_arcs[cursor[v]++]].target;
		if (self->rank[next] == UINT32_MAX) {
			self->rank[next] = 0;
			stack[n_stack++] = next;
		}
	}
	self->n_order = self->n_nodes - n_left;
	for (uint32_t i = 0; i < self->n_order; i++) {
		self->order[i] = self->order[n_left + i];
		self->rank[self->order[i]] = i;
	}
}

/* Exits for the blocks of endless loops; `can_leave` and `queue` have room for all nodes. */
static void add_stuck_exits(LodeFlowNetwork *self, uint32_t *can_leave, uint32_t *queue)
{
	uint32_t n_queue = 0;

	for (uint32_t v = 0; v < self->n_nodes; v++)
		can_leave[v] = 0;
	queue[n_queue++] = self->hub;
	can_leave[self->hub] = 1;
	for (uint32_t next = 0; next < n_queue; next++) {
		uint32_t v = queue[next];
		for (uint32_t i = self->in_starts[v]; i < self->in_starts[v + 1]; i++) {
			uint32_t source = self->arcs[self->in_arcs[i]].source;
			if (can_leave[source] == 0)
				queue[n_queue++] = source;
			can_leave[source] = 1;
		}
	}
	for (uint32_t v = 1; v < self->hub; v += 2)
		if (can_leave[v] == 0)
			add_arc(self, v, self->hub, LODE_FLOW_OUTSIDE, -1)->increase =
				COST_STUCK_EXIT;
}

static void drop_unreachable(LodeFlowNetwork *self)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < self->n_arcs; i++)
		if (self->rank[self->arcs[i].source] != UINT32_MAX)
			self->arcs[n++] = self->arcs[i];
	self->n_arcs = n;
}

static bool check_counts(
	const LodeInferenceGraph *graph, double unit, size_t n_arcs, GError **error)
{
	double limit = (double)LODE_FLOW_LIMIT / (double)(n_arcs + 1), largest = 0;

	for (uint32_t b = 0; b < graph->n_blocks; b++)
		largest = fmax(largest, graph->blocks[b].count / unit);
	for (uint32_t e = 0; e < graph->n_edges; e++)
		largest = fmax(largest, graph->edges[e].count / unit);
	if (largest <= limit)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"a count of %g is too large to infer others from it", largest);
	return false;
}

bool lode_flow_network_init(LodeFlowNetwork *self, const LodeInferenceGraph *graph,
	const LodeInferenceOptions *options, GError **error)
{
	double unit = options->unit;
	size_t max_arcs = 3 * (size_t)graph->n_blocks + graph->n_edges;

	*self = (LodeFlowNetwork){.sample = options->sample > 0 ? options->sample / unit : 1};
	if (max_arcs > UINT32_MAX / 8)
		return lode_flow_network_no_memory(error);
	if (!check_counts(graph, unit, max_arcs, error))
		return false;
	self->hub = 2 * graph->n_blocks;
	self->n_nodes = self->hub + 1;
	g_autofree uint32_t *first = g_try_new(uint32_t, self->n_nodes);
	g_autofree uint32_t *second = g_try_new(uint32_t, self->n_nodes);
	if (first == NULL || second == NULL || !allocate(self, max_arcs))
		return lode_flow_network_no_memory(error);
	add_arcs(self, graph, unit);
	link_arcs(self);
	add_stuck_exits(self, first, second);
	link_arcs(self);
	order_nodes(self, first, second);
	drop_unreachable(self);
	link_arcs(self);
	return true;
}

/* A part of an arc's change whose units cost the same. */
typedef struct {
	int64_t capacity, cost;
} Step;

/*
 * A measured count costs the same for each unit that the flow differs from it. Samples have a heavy
 * tail (few instructions hold most of a loop's, the others none), so that their
 * logarithms are compared, and the farther the flow is away the more the next unit costs; that
 * curve in steps, each as far as all before it:
 *
 *   flow     0 ─── m/2¹⁶ ─── m/2⁸ ── m/2⁴ ─ m/2² ─ m/2 ─ m ─ 2m ─ 2²m ── 2⁴m ─── 2⁸m ─── ∞
 *   step          5        4       3      2      1     0   0    1     2      3     beyond
 */
enum {
	COST_PER_INSTRUCTION = 1024,
	MAX_COST_RATIO = 256, /* of the last unit of a hot block to that of a cold one */
	N_STEPS_MORE = 4,     /* before the last, which has no end */
	N_STEPS_LESS = 6,
	MAX_STEPS = 6,
};

/* Powers of two: where step i ends, and the middle of it. */
static const double step_ends[] = {1, 2, 4, 8, 16, INFINITY};
static const double step_middles[] = {0.5, 1.5, 3, 6, 12, 24};

static void add_step(Step *steps, uint32_t *n, int64_t capacity, double cost)
{
	if (capacity > 0)
		steps[(*n)++] = (Step){capacity, (int64_t)round(cost)};
}

/* How much more or less weight the samples of a block have than in a block with `flow`. */
static double logarithm_ratio(const LodeFlowNetwork *self, const LodeFlowArc *arc, double flow)
{
	return log1p((double)arc->count / self->sample) / log1p(flow / self->sample);
}

static uint32_t add_more(const LodeFlowNetwork *self, const LodeFlowArc *arc, Step *steps)
{
	double measured = (double)arc->count;
	double weight = (double)(COST_PER_INSTRUCTION * arc->weight);
	int64_t at = arc->count;
	uint32_t n = 0;

	for (unsigned i = 0; i < N_STEPS_MORE && at > 0; i++) {
		double middle = measured * exp2(step_middles[i]);
		int64_t next = (int64_t)fmin(
			round(measured * exp2(step_ends[i])), (double)LODE_FLOW_LIMIT);
		add_step(steps, &n, next - at, weight * (1 - logarithm_ratio(self, arc, middle)));
		at = next;
	}
	add_step(steps, &n, LODE_FLOW_LIMIT, weight);
	return n;
}

static uint32_t add_less(const LodeFlowNetwork *self, const LodeFlowArc *arc, Step *steps)
{
	double measured = (double)arc->count;
	double weight = (double)(COST_PER_INSTRUCTION * arc->weight);
	int64_t at = arc->count;
	uint32_t n = 0;

	for (unsigned i = 0; i < N_STEPS_LESS && at > 0; i++) {
		double middle = measured * exp2(-step_middles[i]);
		int64_t next = (int64_t)round(measured * exp2(-step_ends[i]));
		double ratio = fmin(logarithm_ratio(self, arc, middle) - 1, MAX_COST_RATIO);
		add_step(steps, &n, at - next, weight * ratio);
		at = next;
	}
	return n;
}

/* The cost of more or less flow than measured, from the measured count outwards; each step costs
 * more than the one before. */
typedef struct {
	Step more[MAX_STEPS], less[MAX_STEPS];
	uint32_t n_more, n_less;
} Steps;

static Steps steps_of(const LodeFlowNetwork *self, const LodeFlowArc *arc)
{
	Steps steps = {.n_more = 0};

	if (arc->weight > 0) {
		steps.n_more = add_more(self, arc, steps.more);
		steps.n_less = add_less(self, arc, steps.less);
		return steps;
	}
	add_step(steps.more, &steps.n_more, LODE_FLOW_LIMIT, (double)arc->increase);
	add_step(steps.less, &steps.n_less, arc->count, (double)arc->decrease);
	return steps;
}

/* An arc is as many arcs of the solver as it has steps, those for more before those for less. */
static void add_steps(const LodeFlowArc *arc, const Steps *steps, LodeMinCostFlow *solver)
{
	for (uint32_t i = 0; i < steps->n_more; i++)
		lode_min_cost_flow_add_arc(
			solver, (LodeMinCostArc){arc->source, arc->target, steps->more[i].capacity,
					steps->more[i].cost});
	for (uint32_t i = 0; i < steps->n_less; i++)
		lode_min_cost_flow_add_arc(
			solver, (LodeMinCostArc){arc->target, arc->source, steps->less[i].capacity,
					steps->less[i].cost});
	lode_min_cost_flow_add_supply(solver, arc->source, -arc->count);
	lode_min_cost_flow_add_supply(solver, arc->target, arc->count);
}

/* `steps` are those of each arc. */
static LodeMinCostFlow *build_solver(const LodeFlowNetwork *self, const Steps *steps)
{
	size_t n = 0;

	for (uint32_t i = 0; i < self->n_arcs; i++)
		n += steps[i].n_more + steps[i].n_less;
	if (n > UINT32_MAX / 2)
		return NULL;
	LodeMinCostFlow *solver = lode_min_cost_flow_new(self->n_nodes, (uint32_t)n);
	for (uint32_t i = 0; solver != NULL && i < self->n_arcs; i++)
		add_steps(&self->arcs[i], &steps[i], solver);
	return solver;
}

static void take_flow(
	LodeFlowNetwork *self, const Steps *steps, const LodeMinCostFlow *solver, bool is_optimal)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < self->n_arcs; i++) {
		LodeFlowArc *arc = &self->arcs[i];
		arc->is_free = is_optimal && !arc->is_known &&
		               lode_min_cost_flow_reduced_cost(solver, next) == 0;
		arc->flow = arc->count;
		for (uint32_t n = steps[i].n_more; n > 0; n--)
			arc->flow += lode_min_cost_flow_sent(solver, next++);
		for (uint32_t n = steps[i].n_less; n > 0; n--)
			arc->flow -= lode_min_cost_flow_sent(solver, next++);
	}
}

/* The flow that the solver left goes by the shortest paths to the hub and from it. */
static bool send_rest(LodeFlowNetwork *self, const LodeMinCostFlow *solver, GError **error)
{
	g_autofree int64_t *from_hub = g_try_new0(int64_t, self->n_nodes);
	g_autofree int64_t *to_hub = g_try_new0(int64_t, self->n_nodes);

	if (from_hub == NULL || to_hub == NULL)
		return lode_flow_network_no_memory(error);
	for (uint32_t v = 0; v < self->hub; v++) {
		int64_t excess = lode_min_cost_flow_excess(solver, v);
		to_hub[v] = MAX(excess, 0);
		from_hub[v] = MAX(-excess, 0);
	}
	return lode_flow_network_send(self, from_hub, to_hub, error);
}

bool lode_flow_network_solve(
	LodeFlowNetwork *self, uint64_t max_work, bool *out_is_optimal, GError **error)
{
	g_autofree Steps *steps = g_try_new(Steps, MAX(self->n_arcs, 1));

	if (steps == NULL)
		return lode_flow_network_no_memory(error);
	for (uint32_t i = 0; i < self->n_arcs; i++)
		steps[i] = steps_of(self, &self->arcs[i]);
	g_autoptr(LodeMinCostFlow) solver = build_solver(self, steps);
	if (solver == NULL)
		return lode_flow_network_no_memory(error);
	LodeMinCostFlowStatus status = lode_min_cost_flow_solve(solver, max_work);
	g_assert(status != LODE_MIN_COST_FLOW_INFEASIBLE);
	*out_is_optimal = status == LODE_MIN_COST_FLOW_OPTIMAL;
	take_flow(self, steps, solver, *out_is_optimal);
	return *out_is_optimal || send_rest(self, solver, error);
}
