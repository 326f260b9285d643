/* SPDX-License-Identifier: MIT */
#include "ingest/inference/branch_outcomes.h"

#include <math.h>

enum { NO_ARC = UINT32_MAX };

/* Looks at an arc, before a chain is given up; real functions need a hundredth of it. */
static const uint64_t max_work = UINT64_C(1) << 24;

/* The inferred ratio weighs as much as so many outcomes. */
static const double prior_outcomes = 1;

/* A way that was not taken in so many outcomes or more is expected to have been taken once,
 * where the inferred ratio says more: a loop whose end was not seen has a bound. */
static const double many_outcomes = 30, unseen_outcomes = 1;

/* From one block to another; loops from a block to itself are left out, as a block's rest says how
 * often it is left. */
typedef struct {
	uint32_t source, target;
	uint32_t next_out, next_in; /* of the same source, of the same target; NO_ARC */
	double share;
} Arc;

typedef struct {
	uint32_t n;
	GArray *arcs;
	uint32_t *out, *in; /* block → its first arc; arcs of eliminated blocks may be among them */
	uint32_t *n_out, *n_in; /* block → arcs from and to blocks that are not eliminated */
	uint32_t *own;          /* block → the arc to it from the block at work; NO_ARC */
	uint32_t *order;        /* the eliminated blocks */
	bool *is_done;
	double *enters, *leaves; /* block → from outside, share to outside */
	double *rests;           /* eliminated block → share that goes elsewhere than to itself */
	GArray *targets, *sources; /* Arc: of the block at work */
	uint32_t n_done;
	uint64_t work;
} Chain;

static void chain_init(Chain *self, uint32_t n)
{
	*self = (Chain){.n = n};
	self->arcs = g_array_new(FALSE, FALSE, sizeof(Arc));
	self->targets = g_array_new(FALSE, FALSE, sizeof(Arc));
	self->sources = g_array_new(FALSE, FALSE, sizeof(Arc));
	self->out = g_new(uint32_t, n);
	self->in = g_new(uint32_t, n);
	self->own = g_new(uint32_t, n);
	self->n_out = g_new0(uint32_t, n);
	self->n_in = g_new0(uint32_t, n);
	self->order = g_new(uint32_t, n);
	self->is_done = g_new0(bool, n);
	self->enters = g_new0(double, n);
	self->leaves = g_new0(double, n);
	self->rests = g_new0(double, n);
	for (uint32_t b = 0; b < n; b++)
		self->out[b] = self->in[b] = self->own[b] = NO_ARC;
}

static void chain_clear(Chain *self)
{
	g_array_unref(self->arcs);
	g_array_unref(self->targets);
	g_array_unref(self->sources);
	g_free(self->out);
	g_free(self->in);
	g_free(self->own);
	g_free(self->n_out);
	g_free(self->n_in);
	g_free(self->order);
	g_free(self->is_done);
	g_free(self->enters);
	g_free(self->leaves);
	g_free(self->rests);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Chain, chain_clear)

static Arc *arc_at(const Chain *self, uint32_t index)
{
	return &g_array_index(self->arcs, Arc, index);
}

static void add_arc(Chain *self, uint32_t source, uint32_t target, double share)
{
	const Arc arc = {source, target, self->out[source], self->in[target], share};

	self->out[source] = self->in[target] = self->arcs->len;
	self->n_out[source]++;
	self->n_in[target]++;
	g_array_append_val(self->arcs, arc);
}

/* Unlinks the arcs to eliminated blocks on the way. */
static void list_targets(Chain *self, uint32_t block)
{
	g_array_set_size(self->targets, 0);
	for (uint32_t *at = &self->out[block]; *at != NO_ARC; self->work++) {
		Arc *arc = arc_at(self, *at);
		if (self->is_done[arc->target]) {
			*at = arc->next_out;
			continue;
		}
		g_array_append_vals(self->targets, arc, 1);
		at = &arc->next_out;
	}
}

/* Likewise; what remains is the list of blocks that are eliminated later, for ever. */
static void list_sources(Chain *self, uint32_t block)
{
	g_array_set_size(self->sources, 0);
	for (uint32_t *at = &self->in[block]; *at != NO_ARC; self->work++) {
		Arc *arc = arc_at(self, *at);
		if (self->is_done[arc->source]) {
			*at = arc->next_in;
			continue;
		}
		g_array_append_vals(self->sources, arc, 1);
		at = &arc->next_in;
	}
}

/* The share of `source` that went to the eliminated block goes to that block's targets. */
static void pass_on(Chain *self, uint32_t source, double share)
{
	for (uint32_t at = self->out[source]; at != NO_ARC; at = arc_at(self, at)->next_out) {
		self->own[arc_at(self, at)->target] = at;
		self->work++;
	}
	uint32_t first = self->out[source];
	for (guint i = 0; i < self->targets->len; i++) {
		const Arc *next = &g_array_index(self->targets, Arc, i);
		uint32_t own = self->own[next->target];
		if (next->target == source)
			continue;
		if (own != NO_ARC)
			arc_at(self, own)->share += share * next->share;
		else
			add_arc(self, source, next->target, share * next->share);
	}
	for (uint32_t at = first; at != NO_ARC; at = arc_at(self, at)->next_out)
		self->own[arc_at(self, at)->target] = NO_ARC;
}

/* `rounds`: of a loop that nothing leaves. */
static void eliminate(Chain *self, uint32_t block, double rounds)
{
	list_targets(self, block);
	list_sources(self, block);
	double rest = self->leaves[block];
	for (guint i = 0; i < self->targets->len; i++)
		rest += g_array_index(self->targets, Arc, i).share;
	if (!(rest > 0))
		rest = self->leaves[block] = 1 / rounds;
	self->rests[block] = rest;
	for (guint i = 0; i < self->targets->len; i++) {
		const Arc *arc = &g_array_index(self->targets, Arc, i);
		self->enters[arc->target] += self->enters[block] * (arc->share / rest);
		self->n_in[arc->target]--;
	}
	self->is_done[block] = true;
	self->order[self->n_done++] = block;
	for (guint i = 0; i < self->sources->len; i++) {
		const Arc arc = g_array_index(self->sources, Arc, i);
		double share = arc.share / rest;
		self->leaves[arc.source] += share * self->leaves[block];
		self->n_out[arc.source]--;
		pass_on(self, arc.source, share);
	}
}

/* Blocks that make few arcs first (minimum degree, in rounds); false: too much work. */
static bool eliminate_all(Chain *self, const double *steps)
{
	g_autofree uint32_t *left = g_new(uint32_t, self->n);
	uint32_t n_left = self->n;

	for (uint32_t b = 0; b < self->n; b++)
		left[b] = b;
	for (uint64_t limit = 1; n_left > 0;) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < n_left && self->work <= max_work; i++) {
			uint32_t block = left[i];
			if ((uint64_t)self->n_in[block] * self->n_out[block] <= limit)
				eliminate(self, block, fmax(steps[block] / 3, 1));
			else
				left[n++] = block;
		}
		self->work += n_left;
		if (self->work > max_work)
			return false;
		if (n == n_left)
			limit *= 2;
		n_left = n;
	}
	return true;
}

/* Executions of each block for one entry. */
static void substitute(const Chain *self, double *out_blocks)
{
	for (uint32_t i = self->n; i-- > 0;) {
		uint32_t block = self->order[i];
		double inflow = self->enters[block];
		for (uint32_t at = self->in[block]; at != NO_ARC; at = arc_at(self, at)->next_in)
			inflow += out_blocks[arc_at(self, at)->source] * arc_at(self, at)->share;
		out_blocks[block] = inflow / self->rests[block];
	}
}

/* The probability of one way of a block, of which `n` in `all` outcomes were observed, and of which
 * the inferred share is `inferred`. */
static double posterior_share(double inferred, double n, double all)
{
	double share = (prior_outcomes * inferred + n) / (prior_outcomes + all);

	return n > 0 || all < many_outcomes
	               ? share
	               : fmax(share, fmin(inferred, unseen_outcomes / (all + 1)));
}

typedef struct {
	double *edges;           /* share of each */
	double *leaves, *enters; /* of each block */
	double *steps;           /* of each block: outcomes */
} Shares;

static void shares_clear(Shares *self)
{
	g_free(self->edges);
	g_free(self->leaves);
	g_free(self->enters);
	g_free(self->steps);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Shares, shares_clear)

/* The inferred flow into each block from outside, and from it. */
static void split_outside(const LodeInferenceGraph *graph, const LodeInferenceResult *flow,
	double *enters, double *leaves)
{
	for (uint32_t b = 0; b < graph->n_blocks; b++)
		enters[b] = leaves[b] = flow->blocks[b];
	for (uint32_t e = 0; e < graph->n_edges; e++) {
		leaves[graph->edges[e].source] -= flow->edges[e];
		enters[graph->edges[e].target] -= flow->edges[e];
	}
}

/* Blocks without inferred flow go all ways alike. */
static void infer_ratios(
	const LodeInferenceGraph *graph, const LodeInferenceResult *flow, Shares *shares)
{
	g_autofree uint32_t *n_ways = g_new0(uint32_t, graph->n_blocks);

	split_outside(graph, flow, shares->enters, shares->leaves);
	for (uint32_t e = 0; e < graph->n_edges; e++)
		n_ways[graph->edges[e].source]++;
	for (uint32_t b = 0; b < graph->n_blocks; b++) {
		bool is_exit = graph->blocks[b].is_exit || n_ways[b] == 0;
		n_ways[b] += is_exit;
		if (flow->blocks[b] > 0)
			shares->leaves[b] = fmax(shares->leaves[b], 0) / flow->blocks[b];
		else
			shares->leaves[b] = is_exit ? 1.0 / n_ways[b] : 0;
	}
	for (uint32_t e = 0; e < graph->n_edges; e++) {
		uint32_t source = graph->edges[e].source;
		shares->edges[e] = flow->blocks[source] > 0 ? flow->edges[e] / flow->blocks[source]
		                                            : 1.0 / n_ways[source];
	}
}

static void take_outcomes(const LodeBranchOutcomes *self, Shares *shares)
{
	const LodeInferenceGraph *graph = self->graph;
	g_autofree double *sums = g_new0(double, graph->n_blocks);

	for (uint32_t e = 0; e < graph->n_edges; e++) {
		uint32_t source = graph->edges[e].source;
		shares->edges[e] = posterior_share(
			shares->edges[e], self->edges[e], shares->steps[source]);
		sums[source] += shares->edges[e];
	}
	for (uint32_t b = 0; b < graph->n_blocks; b++) {
		if (shares->leaves[b] > 0 || self->left[b] > 0)
			shares->leaves[b] = posterior_share(
				shares->leaves[b], self->left[b], shares->steps[b]);
		sums[b] += shares->leaves[b];
		if (sums[b] > 0)
			shares->leaves[b] /= sums[b];
	}
	for (uint32_t e = 0; e < graph->n_edges; e++)
		if (sums[graph->edges[e].source] > 0)
			shares->edges[e] /= sums[graph->edges[e].source];
}

/* How often each block is entered from outside for one entry of the function. */
static void take_entries(const LodeBranchOutcomes *self, Shares *shares)
{
	uint32_t n = self->graph->n_blocks;
	double inferred = 0, observed = 0;

	for (uint32_t b = 0; b < n; b++) {
		inferred += fmax(shares->enters[b], 0);
		observed += self->entered[b];
	}
	for (uint32_t b = 0; b < n; b++) {
		double ratio = inferred > 0 ? fmax(shares->enters[b], 0) / inferred : b == 0;
		shares->enters[b] = (prior_outcomes * ratio + self->entered[b]) /
		                    (prior_outcomes + observed);
	}
}

static void shares_init(
	Shares *shares, const LodeBranchOutcomes *self, const LodeInferenceResult *flow)
{
	const LodeInferenceGraph *graph = self->graph;

	*shares = (Shares){g_new0(double, MAX(graph->n_edges, 1)), g_new0(double, graph->n_blocks),
		g_new0(double, graph->n_blocks), g_new0(double, graph->n_blocks)};
	for (uint32_t e = 0; e < graph->n_edges; e++)
		shares->steps[graph->edges[e].source] += self->edges[e];
	for (uint32_t b = 0; b < graph->n_blocks; b++)
		shares->steps[b] += self->left[b];
	infer_ratios(graph, flow, shares);
	take_outcomes(self, shares);
	take_entries(self, shares);
}

static bool is_observed(const LodeBranchOutcomes *self)
{
	for (uint32_t e = 0; e < self->graph->n_edges; e++)
		if (self->edges[e] > 0)
			return true;
	for (uint32_t b = 0; b < self->graph->n_blocks; b++)
		if (self->left[b] > 0 || self->entered[b] > 0)
			return true;
	return false;
}

static double count_instructions(const LodeBranchOutcomes *self, const double *blocks)
{
	double sum = 0;

	for (uint32_t b = 0; b < self->graph->n_blocks; b++)
		sum += blocks[b] * self->sizes[b];
	return sum;
}

static bool solve(const LodeInferenceGraph *graph, const Shares *shares, double *out_blocks)
{
	g_auto(Chain) chain;

	chain_init(&chain, graph->n_blocks);
	for (uint32_t e = 0; e < graph->n_edges; e++) {
		const LodeInferenceEdge *edge = &graph->edges[e];
		if (edge->source != edge->target && shares->edges[e] > 0)
			add_arc(&chain, edge->source, edge->target, shares->edges[e]);
	}
	for (uint32_t b = 0; b < graph->n_blocks; b++) {
		chain.leaves[b] = shares->leaves[b];
		chain.enters[b] = shares->enters[b];
	}
	if (!eliminate_all(&chain, shares->steps))
		return false;
	substitute(&chain, out_blocks);
	return true;
}

/* The share of instructions that two counts of blocks have in common. */
static double overlap(const LodeBranchOutcomes *self, const double *a, const double *b)
{
	double all_a = count_instructions(self, a), all_b = count_instructions(self, b), sum = 0;

	for (uint32_t i = 0; i < self->graph->n_blocks && all_a > 0 && all_b > 0; i++)
		sum += fmin(a[i] / all_a, b[i] / all_b) * self->sizes[i];
	return sum;
}

/*
 * How much of the chain's flow to take, the rest being the inferred one: what fits the steps of
 * each block best, and no more than the steps can carry, as few of them in many blocks fit
 * themselves.
 */
static double choose_part(const LodeBranchOutcomes *self, const double *chain,
	const LodeInferenceResult *inferred, const double *steps)
{
	enum { N_PARTS = 4 };
	const double margin = 0.02, outcomes_of_block = 0.5;
	uint32_t n = self->graph->n_blocks;
	g_autofree double *mixed = g_new(double, n);
	double best = -1, part = 1, seen = 0, n_flowing = 0;

	for (uint32_t b = 0; b < n; b++) {
		seen += steps[b];
		n_flowing += steps[b] > 0 || inferred->blocks[b] > 0;
	}
	double most = seen / (seen + n_flowing * outcomes_of_block);
	for (unsigned i = N_PARTS; i > 0; i--) {
		double own = most * i / (double)N_PARTS;
		for (uint32_t b = 0; b < n; b++)
			mixed[b] = own * chain[b] + (1 - own) * inferred->blocks[b];
		double fit = overlap(self, mixed, steps);
		if (fit <= best + margin)
			continue;
		best = fit;
		part = own;
	}
	return part;
}

/* In place of `blocks`, `edges` and the entries: the part of them that fits, and the inferred flow.
 */
static void mix(const LodeBranchOutcomes *self, const LodeInferenceResult *inferred,
	const Shares *shares, double *blocks, double *edges)
{
	const LodeInferenceGraph *graph = self->graph;
	double part = choose_part(self, blocks, inferred, shares->steps);
	g_autofree double *enters = g_new(double, graph->n_blocks);
	g_autofree double *leaves = g_new(double, graph->n_blocks);

	split_outside(graph, inferred, enters, leaves);
	for (uint32_t b = 0; b < graph->n_blocks; b++) {
		blocks[b] = part * blocks[b] + (1 - part) * inferred->blocks[b];
		shares->enters[b] = part * shares->enters[b] + (1 - part) * enters[b];
	}
	for (uint32_t e = 0; e < graph->n_edges; e++)
		edges[e] = part * edges[e] + (1 - part) * inferred->edges[e];
}

bool lode_branch_outcomes_apply(
	const LodeBranchOutcomes *self, double unit, LodeInferenceResult *flow)
{
	const LodeInferenceGraph *graph = self->graph;
	g_auto(Shares) shares = {0};

	double before = count_instructions(self, flow->blocks);
	if (graph->n_blocks == 0 || (before > 0 && !is_observed(self)))
		return false;
	shares_init(&shares, self, flow);
	g_autofree double *blocks = g_new(double, graph->n_blocks);
	g_autofree double *edges = g_new(double, MAX(graph->n_edges, 1));
	if (!solve(graph, &shares, blocks))
		return false;
	double after = count_instructions(self, blocks);
	double scale = before > 0 ? before / after : 1;
	if (!isfinite(after) || !isfinite(scale) || !(scale > 0))
		return false;
	for (uint32_t b = 0; b < graph->n_blocks; b++) {
		blocks[b] *= scale;
		shares.enters[b] *= scale;
	}
	for (uint32_t e = 0; e < graph->n_edges; e++)
		edges[e] = blocks[graph->edges[e].source] * shares.edges[e];
	if (before > 0)
		mix(self, flow, &shares, blocks, edges);
	LodeInferenceResult whole = {.blocks = blocks, .edges = edges};
	if (!lode_flow_inference_round(graph, unit, shares.enters, &whole))
		return false;
	for (uint32_t b = 0; b < graph->n_blocks; b++)
		flow->blocks[b] = blocks[b];
	for (uint32_t e = 0; e < graph->n_edges; e++)
		flow->edges[e] = edges[e];
	return true;
}
