/* SPDX-License-Identifier: MIT */
/*
 * Cheapest flows are many where nothing was measured, and a solver gives one at a corner: all of it
 * through one side. Here the free flow is spread: split evenly at each node, then scaled to the
 * fixed sums at both ends until both agree (iterative proportional fitting; its limit is the flow
 * nearest to the even one in relative entropy), rounded, and made whole again by a small flow.
 *
 * W. E. Deming, F. F. Stephan: "On a least squares adjustment of a sampled frequency table when the
 * expected marginal totals are known", 1940.
 */
#include "ingest/inference/flow_network.h"
#include "ingest/inference/min_cost_flow.h"

#include <math.h>

enum { MAX_ROUNDS = 30 };

static const double tolerance = 1e-3; /* of a sum; the rest is repaired */

typedef struct {
	LodeFlowNetwork *network;
	double *share;                /* of each free arc */
	double *fixed_in, *fixed_out; /* node → sum of the fixed flow */
	uint32_t *n_in, *n_out;       /* node → number of free arcs */
	uint32_t *in, *out;           /* the free arcs of a node at in_starts, out_starts of it */
} Balance;

static void balance_clear(Balance *self)
{
	g_free(self->share);
	g_free(self->fixed_in);
	g_free(self->fixed_out);
	g_free(self->n_in);
	g_free(self->n_out);
	g_free(self->in);
	g_free(self->out);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Balance, balance_clear)

static bool balance_init(Balance *self, LodeFlowNetwork *network, GError **error)
{
	size_t n = network->n_nodes;

	self->network = network;
	self->share = g_try_new(double, MAX(network->n_arcs, 1));
	self->fixed_in = g_try_new0(double, n);
	self->fixed_out = g_try_new0(double, n);
	self->n_in = g_try_new0(uint32_t, n);
	self->n_out = g_try_new0(uint32_t, n);
	self->in = g_try_new(uint32_t, MAX(network->n_arcs, 1));
	self->out = g_try_new(uint32_t, MAX(network->n_arcs, 1));
	if (self->share != NULL && self->fixed_in != NULL && self->fixed_out != NULL &&
		self->n_in != NULL && self->n_out != NULL && self->in != NULL && self->out != NULL)
		return true;
	return lode_flow_network_no_memory(error);
}

static void count_free(Balance *self)
{
	for (uint32_t v = 0; v < self->network->n_nodes; v++) {
		self->n_in[v] = self->n_out[v] = 0;
		self->fixed_in[v] = self->fixed_out[v] = 0;
	}
	for (uint32_t i = 0; i < self->network->n_arcs; i++) {
		const LodeFlowArc *arc = &self->network->arcs[i];
		if (arc->is_free) {
			self->n_out[arc->source]++;
			self->n_in[arc->target]++;
			self->share[i] = 1;
		} else {
			self->fixed_out[arc->source] += (double)arc->flow;
			self->fixed_in[arc->target] += (double)arc->flow;
		}
	}
}

/* A loop of unknown counts only has no natural number of rounds: it keeps its flow. */
static void fix_unknown_loops(Balance *self)
{
	LodeFlowNetwork *network = self->network;

	for (uint32_t i = 0; i < network->n_arcs; i++) {
		LodeFlowArc *arc = &network->arcs[i];
		if (arc->is_free && arc->source != network->hub && arc->target != network->hub &&
			network->rank[arc->target] <= network->rank[arc->source] &&
			self->n_in[arc->source] > 0 && self->n_out[arc->target] > 0)
			arc->is_free = false;
	}
}

static bool has_choice(const Balance *self)
{
	for (uint32_t v = 0; v < self->network->n_nodes; v++)
		if (self->n_out[v] > 1)
			return true;
	return false;
}

/* The free ones among all arcs of the nodes. */
static void list_free(const LodeFlowNetwork *network, const uint32_t *starts, const uint32_t *arcs,
	uint32_t *out_free)
{
	for (uint32_t v = 0; v < network->n_nodes; v++) {
		uint32_t n = starts[v];
		for (uint32_t i = starts[v]; i < starts[v + 1]; i++)
			if (network->arcs[arcs[i]].is_free)
				out_free[n++] = arcs[i];
	}
}

/* The free arcs on one side of a node. */
typedef struct {
	const uint32_t *arcs;
	uint32_t n;
	double fixed; /* the sum of the others */
} NodeSide;

static NodeSide side_of(const Balance *self, uint32_t v, bool is_in)
{
	if (is_in)
		return (NodeSide){
			self->in + self->network->in_starts[v], self->n_in[v], self->fixed_in[v]};
	return (NodeSide){
		self->out + self->network->out_starts[v], self->n_out[v], self->fixed_out[v]};
}

static double sum_free(const Balance *self, const NodeSide *side)
{
	double sum = 0;

	for (uint32_t i = 0; i < side->n; i++)
		sum += self->share[side->arcs[i]];
	return sum;
}

/* Scales the free arcs of a side to a sum; gives by how much it missed, beyond what may be. */
static double scale_to(Balance *self, const NodeSide *side, double sum)
{
	double before = sum_free(self, side), wanted = sum > 0 ? sum : 0;

	if (before <= 0)
		return wanted;
	for (uint32_t i = 0; i < side->n; i++)
		self->share[side->arcs[i]] *= wanted / before;
	double may_miss = tolerance * wanted > 0.25 ? tolerance * wanted : 0.25;
	return fabs(wanted - before) - may_miss;
}

/* Makes a node's outgoing flow its incoming one, or the other way where that cannot be. */
static double fit_node(Balance *self, uint32_t v, bool is_forward)
{
	const NodeSide in = side_of(self, v, true), out = side_of(self, v, false);

	if (in.n == 0 && out.n == 0)
		return 0;
	if (out.n > 0 && (is_forward || in.n == 0))
		return scale_to(self, &out, in.fixed + sum_free(self, &in) - out.fixed);
	return scale_to(self, &in, out.fixed + sum_free(self, &out) - in.fixed);
}

/* Shares the flow from outside evenly over the entries. */
static void share_entries(Balance *self)
{
	const NodeSide entries = side_of(self, self->network->hub, false);
	double sum = 0;

	for (uint32_t i = 0; i < entries.n; i++)
		sum += (double)self->network->arcs[entries.arcs[i]].flow;
	scale_to(self, &entries, sum);
}

/*
 * Down the graph what leaves a node is scaled to what enters it, up the graph the other way round;
 * where one side is fixed, always the other.
 */
static void fit(Balance *self)
{
	const LodeFlowNetwork *network = self->network;
	double worst = INFINITY;

	share_entries(self);
	for (unsigned round = 0; round < MAX_ROUNDS && worst > 0; round++) {
		worst = 0;
		for (uint32_t i = 1; i < network->n_order; i++)
			worst = fmax(worst, fit_node(self, network->order[i], true));
		for (uint32_t i = network->n_order; i-- > 1;)
			worst = fmax(worst, fit_node(self, network->order[i], false));
	}
}

/* The whole flow nearest to the shares of free arcs; as in the cheapest one, arc by arc: more
 * first, then less. */
static LodeMinCostFlow *build_repair(const LodeFlowNetwork *network, const double *share)
{
	LodeMinCostFlow *solver = lode_min_cost_flow_new(network->n_nodes, 2 * network->n_arcs);

	for (uint32_t i = 0; solver != NULL && i < network->n_arcs; i++) {
		const LodeFlowArc *arc = &network->arcs[i];
		int64_t flow = arc->is_free ? (int64_t)round(share[i]) : arc->flow;
		int64_t cost = arc->item == LODE_FLOW_OUTSIDE ? 0 : 1;

		lode_min_cost_flow_add_supply(solver, arc->source, -flow);
		lode_min_cost_flow_add_supply(solver, arc->target, flow);
		if (!arc->is_free)
			continue;
		lode_min_cost_flow_add_arc(
			solver, (LodeMinCostArc){arc->source, arc->target, INT64_C(1) << 60, cost});
		lode_min_cost_flow_add_arc(
			solver, (LodeMinCostArc){arc->target, arc->source, flow, cost});
	}
	return solver;
}

static void take_repaired(
	LodeFlowNetwork *network, const double *share, const LodeMinCostFlow *solver)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < network->n_arcs; i++) {
		LodeFlowArc *arc = &network->arcs[i];
		if (!arc->is_free)
			continue;
		arc->flow = (int64_t)round(share[i]) + lode_min_cost_flow_sent(solver, next) -
		            lode_min_cost_flow_sent(solver, next + 1);
		next += 2;
	}
}

bool lode_flow_network_round(
	LodeFlowNetwork *self, const double *wanted, uint64_t max_work, GError **error)
{
	for (uint32_t i = 0; i < self->n_arcs; i++) {
		if (!(wanted[i] < (double)LODE_FLOW_LIMIT / (self->n_arcs + 1.0)))
			return lode_flow_network_no_memory(error);
		self->arcs[i].is_free = true;
	}
	g_autoptr(LodeMinCostFlow) solver = build_repair(self, wanted);
	if (solver == NULL ||
		lode_min_cost_flow_solve(solver, max_work) != LODE_MIN_COST_FLOW_OPTIMAL)
		return lode_flow_network_no_memory(error);
	take_repaired(self, wanted, solver);
	return true;
}

bool lode_flow_network_balance(LodeFlowNetwork *network, uint64_t max_work, GError **error)
{
	g_auto(Balance) self = {0};

	if (!balance_init(&self, network, error))
		return false;
	count_free(&self);
	fix_unknown_loops(&self);
	count_free(&self);
	if (!has_choice(&self))
		return true;
	list_free(network, network->in_starts, network->in_arcs, self.in);
	list_free(network, network->out_starts, network->out_arcs, self.out);
	fit(&self);
	g_autoptr(LodeMinCostFlow) solver = build_repair(network, self.share);
	if (solver == NULL)
		return lode_flow_network_no_memory(error);
	/* Where the bound on work ends this, the flow stays as the solver found it. */
	if (lode_min_cost_flow_solve(solver, max_work) == LODE_MIN_COST_FLOW_OPTIMAL)
		take_repaired(network, self.share, solver);
	return true;
}
