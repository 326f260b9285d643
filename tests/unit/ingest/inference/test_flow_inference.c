/* SPDX-License-Identifier: MIT */
/*
 * Inferred counts: known examples; on random graphs the cost of a naive solver and conserved flow;
 * on random walks nearer to the truth than what was measured.
 */
#include "ingest/inference/flow_inference.h"

#include "base/error.h"
#include "naive_flow.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

enum { MAX_BLOCKS = 64, MAX_EDGES = 256, UNKNOWN = -1, SAMPLE = 50 };

typedef struct {
	LodeInferenceGraph graph;
	LodeInferenceBlock blocks[MAX_BLOCKS];
	LodeInferenceEdge edges[MAX_EDGES];
	double out_blocks[MAX_BLOCKS], out_edges[MAX_EDGES];
	LodeInferenceResult result;
	bool is_live[MAX_BLOCKS];  /* can be reached */
	bool is_stuck[MAX_BLOCKS]; /* cannot reach an exit */
	bool has_edges[MAX_BLOCKS];
} Case;

static void case_init(Case *self, uint32_t n_blocks)
{
	memset(self, 0, sizeof(*self));
	self->graph = (LodeInferenceGraph){self->blocks, n_blocks, self->edges, 0};
	self->result = (LodeInferenceResult){.blocks = self->out_blocks, .edges = self->out_edges};
	for (uint32_t b = 0; b < n_blocks; b++)
		self->blocks[b].count = UNKNOWN;
}

static void add_edge(Case *self, uint32_t source, uint32_t target, double count)
{
	g_assert_cmpuint(self->graph.n_edges, <, MAX_EDGES);
	self->edges[self->graph.n_edges++] = (LodeInferenceEdge){
		source, target, .is_fall_through = target == source + 1, .count = count};
}

/* By repeating until nothing changes. */
static void explore(Case *self)
{
	for (uint32_t b = 0; b < self->graph.n_blocks; b++) {
		self->is_live[b] = b == 0 || self->blocks[b].is_entry;
		self->has_edges[b] = false;
	}
	for (uint32_t e = 0; e < self->graph.n_edges; e++)
		self->has_edges[self->edges[e].source] = true;
	for (uint32_t b = 0; b < self->graph.n_blocks; b++)
		self->is_stuck[b] = !self->blocks[b].is_exit && self->has_edges[b];
	for (uint32_t round = 0; round < self->graph.n_blocks; round++) {
		for (uint32_t e = 0; e < self->graph.n_edges; e++) {
			const LodeInferenceEdge *edge = &self->edges[e];
			self->is_live[edge->target] |= self->is_live[edge->source];
			self->is_stuck[edge->source] &= self->is_stuck[edge->target];
		}
	}
}

static bool is_exit(const Case *self, uint32_t b)
{
	return self->blocks[b].is_exit || !self->has_edges[b] || self->is_stuck[b];
}

static void sum_edges(const Case *self, double *in, double *out)
{
	memset(in, 0, MAX_BLOCKS * sizeof(double));
	memset(out, 0, MAX_BLOCKS * sizeof(double));
	for (uint32_t e = 0; e < self->graph.n_edges; e++) {
		out[self->edges[e].source] += self->out_edges[e];
		in[self->edges[e].target] += self->out_edges[e];
	}
}

static void check_conserved(const Case *self, double unit)
{
	double in[MAX_BLOCKS], out[MAX_BLOCKS];

	sum_edges(self, in, out);
	for (uint32_t e = 0; e < self->graph.n_edges; e++) {
		g_assert_cmpfloat(self->out_edges[e], >=, 0);
		g_assert_cmpfloat(fmod(self->out_edges[e], unit), ==, 0);
	}
	for (uint32_t b = 0; b < self->graph.n_blocks; b++) {
		double count = self->out_blocks[b];
		if (b == 0 || self->blocks[b].is_entry)
			g_assert_cmpfloat(in[b], <=, count);
		else
			g_assert_cmpfloat(in[b], ==, count);
		if (is_exit(self, b))
			g_assert_cmpfloat(out[b], <=, count);
		else
			g_assert_cmpfloat(out[b], ==, count);
		if (!self->is_live[b])
			g_assert_cmpfloat(count, ==, 0);
	}
}

/* Every block that ran was entered: flow leads to it from outside. */
static void check_connected(const Case *self)
{
	double in[MAX_BLOCKS], out[MAX_BLOCKS];
	bool is_reached[MAX_BLOCKS];

	sum_edges(self, in, out);
	for (uint32_t b = 0; b < self->graph.n_blocks; b++)
		is_reached[b] = self->out_blocks[b] > in[b];
	for (uint32_t round = 0; round < self->graph.n_blocks; round++)
		for (uint32_t e = 0; e < self->graph.n_edges; e++)
			if (self->out_edges[e] > 0 && is_reached[self->edges[e].source])
				is_reached[self->edges[e].target] = true;
	for (uint32_t b = 0; b < self->graph.n_blocks; b++)
		g_assert_true(is_reached[b] || self->out_blocks[b] == 0);
}

static void infer_in(Case *self, double unit, uint64_t max_work)
{
	LodeInferenceOptions options = {.unit = unit, .sample = SAMPLE, .max_work = max_work};
	g_autoptr(GError) error = NULL;

	explore(self);
	g_assert_true(lode_flow_inference_solve(&self->graph, &options, &self->result, &error));
	g_assert_no_error(error);
	check_conserved(self, unit);
	check_connected(self);
}

static void infer(Case *self)
{
	infer_in(self, 1, 0);
	g_assert_true(self->result.is_optimal);
}

/* The costs of docs/inside/inference.md. */
typedef struct {
	int64_t increase, decrease;
} Costs;

static bool is_sampled(const Case *self, uint32_t b)
{
	return self->blocks[b].weight > 0 && self->blocks[b].count >= 0;
}

static Costs block_costs(const Case *self, uint32_t b)
{
	if (self->blocks[b].count < 0)
		return (Costs){0, 0};
	if (b == 0)
		return (Costs){10, 10};
	return (Costs){round(self->blocks[b].count) == 0 ? 11 : 10, 10};
}

static Costs edge_costs(const LodeInferenceEdge *edge)
{
	if (edge->count < 0)
		return (Costs){0, 0};
	return (Costs){10, 20};
}

static int64_t change_cost(double measured, double inferred, Costs costs)
{
	double change = inferred - fmax(measured, 0);

	return (int64_t)(change > 0 ? change * (double)costs.increase
				    : -change * (double)costs.decrease);
}

/* Where units of a sampled block change their cost, and the cost of each from there on, upwards. */
typedef struct {
	int64_t from, cost;
} Step;

enum { N_STEPS = 11 };

static double logarithm_of(double count)
{
	return log(1 + count / SAMPLE);
}

static void list_steps(const LodeInferenceBlock *block, Step *steps)
{
	static const double powers[N_STEPS] = {-INFINITY, -16, -8, -4, -2, -1, 0, 1, 2, 4, 8};
	static const double middles[N_STEPS] = {
		-24, -12, -6, -3, -1.5, -0.5, 0.5, 1.5, 3, 6, INFINITY};

	for (unsigned i = 0; i < N_STEPS; i++) {
		double middle = block->count * pow(2, middles[i]), change = 1;
		if (block->count > 0)
			change -= logarithm_of(block->count) / logarithm_of(middle);
		steps[i].from = (int64_t)round(block->count * pow(2, powers[i]));
		steps[i].cost = (int64_t)round(1024 * block->weight * fmax(change, -256));
	}
	if (block->count == 0)
		memset(steps, 0, (N_STEPS - 1) * sizeof(Step));
}

static int64_t sampled_cost(const LodeInferenceBlock *block, double inferred)
{
	int64_t cost = 0, flow = (int64_t)inferred, measured = (int64_t)block->count;
	Step steps[N_STEPS];

	list_steps(block, steps);
	for (unsigned i = 0; i < N_STEPS; i++) {
		int64_t end = i + 1 < N_STEPS ? steps[i + 1].from : INT64_MAX;
		int64_t from = MAX(steps[i].from, MIN(flow, measured));
		int64_t to = MIN(end, MAX(flow, measured));
		if (to > from)
			cost += (to - from) * ABS(steps[i].cost);
	}
	return cost;
}

static int64_t inferred_cost(const Case *self)
{
	double in[MAX_BLOCKS], out[MAX_BLOCKS];
	int64_t cost = 0;

	sum_edges(self, in, out);
	for (uint32_t b = 0; b < self->graph.n_blocks; b++) {
		if (!self->is_live[b])
			continue;
		cost += is_sampled(self, b) ? sampled_cost(&self->blocks[b], self->out_blocks[b])
		                            : change_cost(self->blocks[b].count,
						      self->out_blocks[b], block_costs(self, b));
		if (self->is_stuck[b])
			cost += 5 * (int64_t)(self->out_blocks[b] - out[b]);
	}
	for (uint32_t e = 0; e < self->graph.n_edges; e++)
		if (self->is_live[self->edges[e].source])
			cost += change_cost(self->edges[e].count, self->out_edges[e],
				edge_costs(&self->edges[e]));
	return cost;
}

/* Flow starts as measured: `count` more arrives at the target than leaves, and so on. */
static void add_measured(
	GArray *arcs, int64_t *excess, const NaiveArc *place, double count, Costs costs)
{
	int64_t measured = (int64_t)fmax(count, 0);
	NaiveArc more = *place, less = {place->target, place->source, measured, costs.decrease, 0};

	more.capacity = INT64_MAX / 8;
	more.cost = costs.increase;
	g_array_append_val(arcs, more);
	g_array_append_val(arcs, less);
	excess[place->target] += measured;
	excess[place->source] -= measured;
}

static void add_sampled(
	GArray *arcs, int64_t *excess, const NaiveArc *place, const LodeInferenceBlock *block)
{
	int64_t measured = (int64_t)block->count;
	Step steps[N_STEPS];

	list_steps(block, steps);
	for (unsigned i = 0; i < N_STEPS; i++) {
		int64_t end = i + 1 < N_STEPS ? steps[i + 1].from : INT64_MAX / 8;
		NaiveArc arc = *place;
		if (steps[i].from < measured)
			arc = (NaiveArc){.source = place->target, .target = place->source};
		arc.capacity = end - steps[i].from;
		arc.cost = ABS(steps[i].cost);
		g_array_append_val(arcs, arc);
	}
	excess[place->target] += measured;
	excess[place->source] -= measured;
}

static int64_t naive_cost(const Case *self)
{
	g_autoptr(GArray) arcs = g_array_new(FALSE, TRUE, sizeof(NaiveArc));
	int64_t excess[2 * MAX_BLOCKS + 1] = {0};
	uint32_t outside = 2 * self->graph.n_blocks;

	for (uint32_t b = 0; b < self->graph.n_blocks; b++) {
		if (!self->is_live[b])
			continue;
		if (is_sampled(self, b))
			add_sampled(arcs, excess, &(NaiveArc){2 * b, 2 * b + 1}, &self->blocks[b]);
		else
			add_measured(arcs, excess, &(NaiveArc){2 * b, 2 * b + 1},
				self->blocks[b].count, block_costs(self, b));
		if (b == 0 || self->blocks[b].is_entry)
			add_measured(arcs, excess, &(NaiveArc){outside, 2 * b}, 0, (Costs){0, 0});
		if (is_exit(self, b))
			add_measured(arcs, excess, &(NaiveArc){2 * b + 1, outside}, 0,
				(Costs){self->is_stuck[b] ? 5 : 0, 0});
	}
	for (uint32_t e = 0; e < self->graph.n_edges; e++) {
		const LodeInferenceEdge *edge = &self->edges[e];
		if (self->is_live[edge->source])
			add_measured(arcs, excess,
				&(NaiveArc){2 * edge->source + 1, 2 * edge->target}, edge->count,
				edge_costs(edge));
	}
	g_assert_true(naive_flow_solve(arcs, excess, outside + 1));
	return naive_flow_cost(arcs);
}

static double random_count(GRand *random, int32_t largest)
{
	switch (g_rand_int_range(random, 0, 4)) {
	case 0:
		return UNKNOWN;
	case 1:
		return 0;
	default:
		return g_rand_int_range(random, 0, largest);
	}
}

static void fill_random(Case *self, GRand *random)
{
	uint32_t n = (uint32_t)g_rand_int_range(random, 1, 13);
	uint32_t n_edges = (uint32_t)g_rand_int_range(random, 0, (int32_t)(3 * n));
	int32_t largest = g_rand_boolean(random) ? 10 : 100000;
	bool are_edges_known = g_rand_boolean(random);
	bool are_sampled = g_rand_boolean(random);

	case_init(self, n);
	for (uint32_t b = 0; b < n; b++)
		self->blocks[b] = (LodeInferenceBlock){
			.count = random_count(random, largest),
			.weight = are_sampled ? g_rand_int_range(random, 0, 20) : 0,
			.is_entry = g_rand_int_range(random, 0, 8) == 0,
			.is_exit = g_rand_int_range(random, 0, 6) == 0,
		};
	for (uint32_t e = 0; e < n_edges; e++) {
		uint32_t source = g_rand_int(random) % n;
		uint32_t target = g_rand_boolean(random) ? (source + 1) % n
		                                         : g_rand_int(random) % n;
		add_edge(self, source, target,
			are_edges_known ? random_count(random, largest) : UNKNOWN);
	}
}

static void test_random(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(2022));
	unsigned n_compared = 0, n_joined = 0;
	Case one;

	for (unsigned i = 0; i < 3000; i++) {
		fill_random(&one, random);
		infer(&one);
		if (one.result.n_joined == 0)
			g_assert_cmpint(inferred_cost(&one), ==, naive_cost(&one));
		else
			g_assert_cmpint(inferred_cost(&one), >=, naive_cost(&one));
		n_compared += one.result.n_joined == 0;
		n_joined += one.result.n_joined > 0;
	}
	g_assert_cmpuint(n_compared, >=, 500);
	g_assert_cmpuint(n_joined, >=, 50);
}

static void test_limited(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(2008));
	unsigned n_limited = 0;
	Case one;

	for (unsigned i = 0; i < 1000; i++) {
		fill_random(&one, random);
		infer_in(&one, 1, 1 + i % 50);
		n_limited += !one.result.is_optimal;
	}
	g_assert_cmpuint(n_limited, >=, 100);
}

/* What was inferred is a flow: measured in full it stays, in part it costs nothing. */
static void test_exact(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(5));
	Case one;

	for (unsigned i = 0; i < 500; i++) {
		double blocks[MAX_BLOCKS], edges[MAX_EDGES];
		bool are_edges_known = i % 2 == 0;
		fill_random(&one, random);
		infer_in(&one, 64, 0);
		memcpy(blocks, one.out_blocks, sizeof(blocks));
		memcpy(edges, one.out_edges, sizeof(edges));
		for (uint32_t b = 0; b < one.graph.n_blocks; b++)
			one.blocks[b].count = blocks[b];
		for (uint32_t e = 0; e < one.graph.n_edges; e++)
			one.edges[e].count = are_edges_known ? edges[e] : UNKNOWN;
		infer_in(&one, 64, 0);
		if (!are_edges_known && one.result.n_joined > 0)
			continue;
		g_assert_cmpuint(one.result.n_joined, ==, 0);
		g_assert_true(memcmp(blocks, one.out_blocks, sizeof(blocks)) == 0);
		if (are_edges_known)
			g_assert_true(memcmp(edges, one.out_edges, sizeof(edges)) == 0);
	}
}

static void test_chain(void)
{
	Case one;

	case_init(&one, 4);
	for (uint32_t b = 0; b + 1 < 4; b++)
		add_edge(&one, b, b + 1, UNKNOWN);
	one.blocks[0].count = one.blocks[1].count = one.blocks[3].count = 70;
	infer(&one);
	g_assert_cmpfloat(one.out_blocks[2], ==, 70);
	g_assert_cmpfloat(one.out_edges[2], ==, 70);

	/* One of four measured too low, as samples often are. */
	one.blocks[2].count = 20;
	infer(&one);
	for (uint32_t b = 0; b < 4; b++)
		g_assert_cmpfloat(one.out_blocks[b], ==, 70);
}

static void add_diamond(Case *self, double top, double left, double right)
{
	case_init(self, 4);
	add_edge(self, 0, 1, UNKNOWN);
	add_edge(self, 0, 2, UNKNOWN);
	add_edge(self, 1, 3, UNKNOWN);
	add_edge(self, 2, 3, UNKNOWN);
	self->blocks[0].count = self->blocks[3].count = top;
	self->blocks[1].count = left;
	self->blocks[2].count = right;
}

static void test_diamond(void)
{
	Case one;

	add_diamond(&one, 100, 30, UNKNOWN);
	infer(&one);
	g_assert_cmpfloat(one.out_blocks[2], ==, 70);
	g_assert_cmpfloat(one.out_edges[1], ==, 70);

	add_diamond(&one, 100, UNKNOWN, UNKNOWN);
	infer(&one);
	g_assert_cmpfloat(one.out_blocks[1], ==, 50);
	g_assert_cmpfloat(one.out_blocks[2], ==, 50);
}

/* 0 → 1 → 2 → 3, 2 → 1: the loop's edge is what its blocks ran more often than they were entered.
 */
static void test_loop(void)
{
	Case one;

	case_init(&one, 4);
	add_edge(&one, 0, 1, UNKNOWN);
	add_edge(&one, 1, 2, UNKNOWN);
	add_edge(&one, 2, 3, UNKNOWN);
	add_edge(&one, 2, 1, UNKNOWN);
	one.blocks[0].count = 5;
	one.blocks[1].count = 1000;
	infer(&one);
	g_assert_cmpfloat(one.out_blocks[2], ==, 1000);
	g_assert_cmpfloat(one.out_blocks[3], ==, 5);
	g_assert_cmpfloat(one.out_edges[3], ==, 995);
}

/* A loop that ran but was never seen to be entered is entered once. */
static void test_isolated(void)
{
	Case one;

	case_init(&one, 3);
	add_edge(&one, 0, 1, 0);
	add_edge(&one, 1, 1, 500);
	add_edge(&one, 1, 2, 0);
	one.blocks[0].count = one.blocks[2].count = 0;
	one.blocks[1].count = 500;
	infer(&one);
	g_assert_cmpuint(one.result.n_joined, ==, 1);
	g_assert_cmpfloat(one.out_blocks[0], ==, 1);
	g_assert_cmpfloat(one.out_blocks[1], ==, 501);
	g_assert_cmpfloat(one.out_edges[1], ==, 500);
}

static void test_endless(void)
{
	Case one;

	case_init(&one, 3);
	add_edge(&one, 0, 1, UNKNOWN);
	add_edge(&one, 1, 2, UNKNOWN);
	add_edge(&one, 2, 1, UNKNOWN);
	one.blocks[0].count = 1;
	one.blocks[1].count = 800;
	one.blocks[2].count = 800;
	infer(&one);
	g_assert_cmpfloat(one.out_blocks[0], ==, 1);
	g_assert_cmpfloat(one.out_blocks[1], ==, 800);
	g_assert_cmpfloat(one.out_edges[2], >=, 799);
}

/* Two blocks that both lead to two others: each edge gets its share, not all or nothing. */
static void test_even(void)
{
	Case one;

	case_init(&one, 6);
	add_edge(&one, 0, 1, 40);
	add_edge(&one, 0, 2, 60);
	for (uint32_t b = 1; b <= 2; b++)
		for (uint32_t to = 3; to <= 4; to++)
			add_edge(&one, b, to, UNKNOWN);
	for (uint32_t e = 2; e < 6; e++)
		one.edges[e].is_fall_through = false;
	add_edge(&one, 3, 5, UNKNOWN);
	add_edge(&one, 4, 5, UNKNOWN);
	one.blocks[0].count = 100;
	one.blocks[1].count = 40;
	one.blocks[2].count = 60;
	one.blocks[3].count = 70;
	one.blocks[4].count = 30;
	infer(&one);
	g_assert_cmpfloat(one.out_edges[2], ==, 28);
	g_assert_cmpfloat(one.out_edges[3], ==, 12);
	g_assert_cmpfloat(one.out_edges[4], ==, 42);
	g_assert_cmpfloat(one.out_edges[5], ==, 18);
}

/*
 * 0 → 1 → … → 40 → 41, 40 → 1: a loop whose samples all lie in a quarter of its blocks. It runs as
 * often as the mean of its instructions says (up to the steps of the cost), not never.
 */
static void test_hot_loop(void)
{
	const double samples = 3000;
	double mean = expm1(log1p(samples) / 4) * SAMPLE;
	Case one;

	case_init(&one, 42);
	for (uint32_t b = 0; b < 42; b++) {
		bool is_hot = b > 0 && b <= 40 && b % 4 == 0;
		one.blocks[b].count = is_hot ? samples * SAMPLE : 0;
		one.blocks[b].weight = 6;
		if (b > 0)
			add_edge(&one, b - 1, b, UNKNOWN);
	}
	add_edge(&one, 40, 1, UNKNOWN);
	infer(&one);
	for (uint32_t b = 1; b <= 40; b++) {
		g_assert_cmpfloat(one.out_blocks[b], >=, mean / 4);
		g_assert_cmpfloat(one.out_blocks[b], <=, mean * 16);
	}
	g_assert_cmpfloat(one.out_blocks[0], <=, 1);
}

static void test_limits(void)
{
	g_autoptr(GError) error = NULL;
	Case one;

	case_init(&one, 2);
	add_edge(&one, 0, 1, 1e300);
	g_assert_false(
		lode_flow_inference_run(&one.graph, 1, one.out_blocks, one.out_edges, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
	g_clear_error(&error);

	one.edges[0].count = NAN;
	one.blocks[1].count = 1e15;
	g_assert_true(
		lode_flow_inference_run(&one.graph, 1, one.out_blocks, one.out_edges, &error));
	g_assert_cmpfloat(one.out_edges[0], ==, 1e15);
	case_init(&one, 0);
	g_assert_true(
		lode_flow_inference_run(&one.graph, 1, one.out_blocks, one.out_edges, &error));
}

/* A function of branches and loops that end; each edge with a probability. */
static void fill_function(Case *self, GRand *random, double *chance)
{
	uint32_t n = (uint32_t)g_rand_int_range(random, 5, MAX_BLOCKS);

	case_init(self, n);
	for (uint32_t b = 0; b + 1 < n; b++) {
		uint32_t first = self->graph.n_edges;
		add_edge(self, b, b + 1, UNKNOWN);
		chance[first] = 1;
		if (g_rand_int_range(random, 0, 10) < 4)
			continue;
		bool is_loop = b > 0 && g_rand_int_range(random, 0, 3) == 0;
		add_edge(self, b,
			is_loop ? (uint32_t)g_rand_int_range(
					  random, (int32_t)MAX(b, 4) - 4 + 1, (int32_t)b + 1)
				: (uint32_t)g_rand_int_range(
					  random, (int32_t)b + 1, (int32_t)MIN(b + 6, n)),
			UNKNOWN);
		chance[first + 1] = g_rand_double_range(random, 0.05, 0.95);
		chance[first] = 1 - chance[first + 1];
	}
}

static void walk(
	const Case *self, GRand *random, const double *chance, double *blocks, double *edges)
{
	for (unsigned step = 0, b = 0; step < 20000; step++) {
		double draw = g_rand_double(random);
		uint32_t taken = UINT32_MAX;

		blocks[b]++;
		for (uint32_t e = 0; e < self->graph.n_edges && draw >= 0; e++) {
			if (self->edges[e].source != b)
				continue;
			taken = e;
			draw -= chance[e];
		}
		if (taken == UINT32_MAX) {
			b = 0;
			continue;
		}
		edges[taken]++;
		b = self->edges[taken].target;
	}
}

static double overlap(const double *a, const double *b, uint32_t n)
{
	double sum_a = 0, sum_b = 0, both = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum_a += a[i];
		sum_b += b[i];
	}
	for (uint32_t i = 0; i < n; i++)
		both += fmin(a[i] / sum_a, b[i] / sum_b);
	return both;
}

static void split_evenly(const Case *self, double *edges)
{
	uint32_t degree[MAX_BLOCKS] = {0};

	for (uint32_t e = 0; e < self->graph.n_edges; e++)
		degree[self->edges[e].source]++;
	for (uint32_t e = 0; e < self->graph.n_edges; e++)
		edges[e] = self->blocks[self->edges[e].source].count /
		           degree[self->edges[e].source];
}

/* Samples of random walks: each block's count with a noise of its own, some not seen. */
static void test_truth(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(4));
	double raw_blocks = 0, raw_edges = 0, inferred_blocks = 0, inferred_edges = 0;
	unsigned n = 300;
	Case one;

	for (unsigned i = 0; i < n; i++) {
		double chance[MAX_EDGES], blocks[MAX_BLOCKS] = {0}, edges[MAX_EDGES] = {0};
		double raw[MAX_BLOCKS], naive[MAX_EDGES];
		fill_function(&one, random, chance);
		walk(&one, random, chance, blocks, edges);
		for (uint32_t b = 0; b < one.graph.n_blocks; b++)
			one.blocks[b].count = raw[b] = round(
				blocks[b] * exp2(g_rand_double_range(random, -1, 1)));
		split_evenly(&one, naive);
		infer(&one);
		raw_blocks += overlap(blocks, raw, one.graph.n_blocks) / n;
		raw_edges += overlap(edges, naive, one.graph.n_edges) / n;
		inferred_blocks += overlap(blocks, one.out_blocks, one.graph.n_blocks) / n;
		inferred_edges += overlap(edges, one.out_edges, one.graph.n_edges) / n;
	}
	g_test_message(
		"overlap of blocks: measured %.4f, inferred %.4f", raw_blocks, inferred_blocks);
	g_test_message(
		"overlap of edges: split evenly %.4f, inferred %.4f", raw_edges, inferred_edges);
	g_assert_cmpfloat(inferred_blocks, >, raw_blocks);
	g_assert_cmpfloat(inferred_edges, >, raw_edges);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/flow-inference/chain", test_chain);
	g_test_add_func("/flow-inference/diamond", test_diamond);
	g_test_add_func("/flow-inference/loop", test_loop);
	g_test_add_func("/flow-inference/isolated", test_isolated);
	g_test_add_func("/flow-inference/endless", test_endless);
	g_test_add_func("/flow-inference/even", test_even);
	g_test_add_func("/flow-inference/hot-loop", test_hot_loop);
	g_test_add_func("/flow-inference/limits", test_limits);
	g_test_add_func("/flow-inference/exact", test_exact);
	g_test_add_func("/flow-inference/random", test_random);
	g_test_add_func("/flow-inference/limited", test_limited);
	g_test_add_func("/flow-inference/truth", test_truth);
	return g_test_run();
}
