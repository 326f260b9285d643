/* SPDX-License-Identifier: MIT */
/*
 * Observed outcomes of branches: the flow of a naive solver on random graphs, conserved to the
 * unit; and simulated runs of random programs, whose samples and windows estimate executions that
 * are known (the table of bench/results/inference.md; run with -m thorough --verbose).
 */
#include "ingest/inference/branch_outcomes.h"

#include "seeds.h"

#include <math.h>
#include <string.h>

enum { MAX_BLOCKS = 40, MAX_EDGES = 120 };

typedef struct {
	LodeInferenceGraph graph;
	LodeInferenceBlock blocks[MAX_BLOCKS];
	LodeInferenceEdge edges[MAX_EDGES];
	uint32_t sizes[MAX_BLOCKS];
	double flow_blocks[MAX_BLOCKS], flow_edges[MAX_EDGES]; /* inferred */
	double edge_steps[MAX_EDGES], left[MAX_BLOCKS], entered[MAX_BLOCKS];
	double out_blocks[MAX_BLOCKS], out_edges[MAX_EDGES];
} Case;

static void case_init(Case *self, uint32_t n)
{
	memset(self, 0, sizeof(*self));
	self->graph = (LodeInferenceGraph){self->blocks, n, self->edges, 0};
	for (uint32_t b = 0; b < n; b++) {
		self->blocks[b].count = -1;
		self->sizes[b] = 1;
	}
}

static uint32_t add_edge(Case *self, uint32_t source, uint32_t target)
{
	self->edges[self->graph.n_edges] = (LodeInferenceEdge){
		source, target, .is_fall_through = target == source + 1, .count = -1};
	return self->graph.n_edges++;
}

static void infer(Case *self)
{
	g_assert_true(lode_flow_inference_run(
		&self->graph, 1, self->flow_blocks, self->flow_edges, NULL));
}

static bool apply(Case *self, double unit)
{
	const LodeBranchOutcomes outcomes = {
		&self->graph, self->sizes, self->edge_steps, self->left, self->entered};
	LodeInferenceResult result = {.blocks = self->out_blocks, .edges = self->out_edges};

	memcpy(self->out_blocks, self->flow_blocks, sizeof(self->out_blocks));
	memcpy(self->out_edges, self->flow_edges, sizeof(self->out_edges));
	return lode_branch_outcomes_apply(&outcomes, unit, &result);
}

static bool is_exit(const Case *self, uint32_t b)
{
	for (uint32_t e = 0; e < self->graph.n_edges; e++)
		if (self->edges[e].source == b)
			return self->blocks[b].is_exit;
	return true;
}

/* Where flow may also end, as the block cannot get to an exit. */
static bool is_stuck(const Case *self, uint32_t block)
{
	bool is_near[MAX_BLOCKS] = {false};

	is_near[block] = true;
	for (uint32_t i = 0; i < self->graph.n_blocks; i++)
		for (uint32_t e = 0; e < self->graph.n_edges; e++)
			is_near[self->edges[e].target] |= is_near[self->edges[e].source];
	for (uint32_t b = 0; b < self->graph.n_blocks; b++)
		if (is_near[b] && is_exit(self, b))
			return false;
	return true;
}

static void check_conserved(const Case *self, double unit)
{
	double in[MAX_BLOCKS] = {0}, out[MAX_BLOCKS] = {0};

	for (uint32_t e = 0; e < self->graph.n_edges; e++) {
		g_assert_cmpfloat(self->out_edges[e], >=, 0);
		g_assert_cmpfloat(fmod(self->out_edges[e], unit), ==, 0);
		out[self->edges[e].source] += self->out_edges[e];
		in[self->edges[e].target] += self->out_edges[e];
	}
	for (uint32_t b = 0; b < self->graph.n_blocks; b++) {
		double count = self->out_blocks[b];
		g_assert_true(isfinite(count));
		if (b == 0 || self->blocks[b].is_entry)
			g_assert_cmpfloat(in[b], <=, count);
		else
			g_assert_cmpfloat(in[b], ==, count);
		if (is_exit(self, b) || is_stuck(self, b))
			g_assert_cmpfloat(out[b], <=, count);
		else
			g_assert_cmpfloat(out[b], ==, count);
	}
}

/* As docs/inside/inference.md says, step by step. */
static double naive_share(double inferred, double n, double all)
{
	double share = (inferred + n) / (1 + all), bound = 1 / (all + 1);

	if (n == 0 && all >= 30 && share < bound && share < inferred)
		share = bound < inferred ? bound : inferred;
	return share;
}

/* shares[b][n]: to outside. */
static void naive_shares(const Case *self, double shares[MAX_BLOCKS][MAX_BLOCKS + 1])
{
	uint32_t n = self->graph.n_blocks;

	for (uint32_t b = 0; b < n; b++) {
		double all = self->left[b], out = 0, sum = 0, n_ways = is_exit(self, b);
		memset(shares[b], 0, sizeof(shares[b]));
		for (uint32_t e = 0; e < self->graph.n_edges; e++) {
			all += self->edges[e].source == b ? self->edge_steps[e] : 0;
			out += self->edges[e].source == b ? self->flow_edges[e] : 0;
			n_ways += self->edges[e].source == b;
		}
		for (uint32_t e = 0; e < self->graph.n_edges; e++) {
			if (self->edges[e].source != b)
				continue;
			double ratio = self->flow_blocks[b] > 0
			                       ? self->flow_edges[e] / self->flow_blocks[b]
			                       : 1 / n_ways;
			double share = naive_share(ratio, self->edge_steps[e], all);
			shares[b][self->edges[e].target] += share;
			sum += share;
		}
		double ratio = self->flow_blocks[b] > 0 ? 1 - out / self->flow_blocks[b]
		               : is_exit(self, b)       ? 1 / n_ways
		                                        : 0;
		if (ratio > 0 || self->left[b] > 0)
			shares[b][n] = naive_share(ratio, self->left[b], all);
		sum += shares[b][n];
		for (uint32_t t = 0; t <= n; t++)
			shares[b][t] /= sum > 0 ? sum : 1;
	}
}

static void naive_entries(const Case *self, double *out)
{
	double in[MAX_BLOCKS], all = 0, observed = 0;

	memcpy(in, self->flow_blocks, sizeof(in));
	for (uint32_t e = 0; e < self->graph.n_edges; e++)
		in[self->edges[e].target] -= self->flow_edges[e];
	for (uint32_t b = 0; b < self->graph.n_blocks; b++) {
		all += in[b];
		observed += self->entered[b];
	}
	for (uint32_t b = 0; b < self->graph.n_blocks; b++)
		out[b] = ((all > 0 ? in[b] / all : b == 0) + self->entered[b]) / (1 + observed);
}

/* With which of four parts the chain's flow and the rest of the inferred one fit the steps best,
 * of as much as the steps can carry; false: two fit alike. */
static bool naive_mix(const Case *self, double *blocks)
{
	double best = -1, part = 1, steps[MAX_BLOCKS] = {0}, all_steps = 0;
	double seen = 0, n_flowing = 0;
	uint32_t n = self->graph.n_blocks;

	for (uint32_t e = 0; e < self->graph.n_edges; e++)
		steps[self->edges[e].source] += self->edge_steps[e];
	for (uint32_t b = 0; b < n; b++) {
		steps[b] += self->left[b];
		all_steps += steps[b] * self->sizes[b];
		seen += steps[b];
		n_flowing += steps[b] > 0 || self->flow_blocks[b] > 0;
	}
	for (unsigned quarters = 4; quarters > 0; quarters--) {
		double all = 0, fit = 0, own = seen / (seen + n_flowing / 2) * quarters / 4.0;
		for (uint32_t b = 0; b < n; b++)
			all += self->sizes[b] *
			       (own * blocks[b] + (1 - own) * self->flow_blocks[b]);
		for (uint32_t b = 0; b < n && all_steps > 0; b++)
			fit += self->sizes[b] *
			       fmin((own * blocks[b] + (1 - own) * self->flow_blocks[b]) / all,
				       steps[b] / all_steps);
		if (fabs(fit - best - 0.02) < 1e-6)
			return false;
		if (fit > best + 0.02) {
			best = fit;
			part = own;
		}
	}
	for (uint32_t b = 0; b < n; b++)
		blocks[b] = part * blocks[b] + (1 - part) * self->flow_blocks[b];
	return true;
}

/* f = e + θᵀf, by Gauss and Jordan; false: a loop that is never left, or nearly so. */
static bool naive_flow(const Case *self, double *out)
{
	static double shares[MAX_BLOCKS][MAX_BLOCKS + 1];
	long double m[MAX_BLOCKS][MAX_BLOCKS + 1];
	double entries[MAX_BLOCKS];
	uint32_t n = self->graph.n_blocks;

	naive_shares(self, shares);
	naive_entries(self, entries);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++)
			m[i][j] = (i == j) - (long double)shares[j][i];
		m[i][n] = entries[i];
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t best = k;
		for (uint32_t i = k + 1; i < n; i++)
			if (fabsl(m[i][k]) > fabsl(m[best][k]))
				best = i;
		if (fabsl(m[best][k]) < 1e-6L)
			return false;
		for (uint32_t j = 0; j <= n; j++) {
			long double kept = m[k][j];
			m[k][j] = m[best][j];
			m[best][j] = kept;
		}
		for (uint32_t i = 0; i < n; i++) {
			long double factor = i == k ? 0 : m[i][k] / m[k][k];
			for (uint32_t j = 0; j <= n && factor != 0; j++)
				m[i][j] -= factor * m[k][j];
		}
	}
	double before = 0, after = 0;
	for (uint32_t b = 0; b < n; b++) {
		out[b] = (double)(m[b][n] / m[b][b]);
		before += self->flow_blocks[b] * self->sizes[b];
		after += out[b] * self->sizes[b];
	}
	for (uint32_t b = 0; b < n; b++)
		out[b] *= before > 0 ? before / after : 1;
	return before > 0 ? naive_mix(self, out) : true;
}

static void fill_random(Case *self)
{
	uint32_t n = (uint32_t)random_int_range(1, 15);
	uint32_t n_edges = (uint32_t)random_int_range(0, (gint32)(3 * n));
	bool is_sampled = random_int_range(0, 5) > 0;

	case_init(self, n);
	for (uint32_t b = 0; b < n; b++) {
		self->sizes[b] = (uint32_t)random_int_range(1, 20);
		self->blocks[b] = (LodeInferenceBlock){
			.count = !is_sampled ? 0 : random_int_range(0, 1000),
			.weight = self->sizes[b],
			.is_entry = random_int_range(0, 8) == 0,
			.is_exit = random_int_range(0, 6) == 0,
		};
	}
	for (uint32_t e = 0; e < n_edges; e++) {
		uint32_t source = (uint32_t)random_int_range(0, (gint32)n);
		add_edge(self, source,
			random_bit() ? (source + 1) % n : (uint32_t)random_int_range(0, (gint32)n));
		if (random_bit())
			self->edge_steps[e] = random_int_range(0, random_bit() ? 5 : 5000);
	}
	for (uint32_t b = 0; b < n; b++) {
		if (self->blocks[b].is_exit && random_bit())
			self->left[b] = random_int_range(0, 10);
		if ((b == 0 || self->blocks[b].is_entry) && random_bit())
			self->entered[b] = random_int_range(0, 10);
	}
	infer(self);
}

static void test_random(void)
{
	unsigned n_applied = 0, n_compared = 0;

	for (unsigned i = 0; i < random_rounds(2000, 20000); i++) {
		const double unit = 1.0 / 65536;
		double naive[MAX_BLOCKS], executed = 0;
		static Case one;
		fill_random(&one);
		if (!apply(&one, unit))
			continue;
		n_applied++;
		check_conserved(&one, unit);
		if (!naive_flow(&one, naive))
			continue;
		n_compared++;
		for (uint32_t b = 0; b < one.graph.n_blocks; b++)
			executed += naive[b];
		/* Rounding, and conserving flow after it, move counts by some units; a loop
		 * that nothing else reaches is entered by one. */
		for (uint32_t b = 0; b < one.graph.n_blocks; b++)
			g_assert_cmpfloat(fabs(one.out_blocks[b] - naive[b]), <=,
				100 * unit + 1e-6 * executed);
	}
	g_assert_cmpuint(n_applied, >=, random_rounds(2000, 20000) / 4);
	g_assert_cmpuint(n_compared, >=, n_applied / 2);
}

/* A loop of two blocks, seen a million times and left once. */
static void test_long_loop(void)
{
	static Case one;

	case_init(&one, 4);
	for (uint32_t b = 0; b < 3; b++)
		add_edge(&one, b, b + 1);
	uint32_t back = add_edge(&one, 2, 1);
	for (uint32_t b = 0; b < 4; b++)
		one.blocks[b] = (LodeInferenceBlock){
			.count = b == 1 || b == 2 ? 1000 : 0, .weight = 1};
	one.blocks[0].count = one.blocks[3].count = 10;
	infer(&one);
	one.edge_steps[back] = 1e6;
	one.edge_steps[2] = 1;
	g_assert_true(apply(&one, 1.0 / 65536));
	check_conserved(&one, 1.0 / 65536);
	g_assert_cmpfloat(one.out_blocks[1] / one.out_blocks[0], >, 5e5);
	g_assert_cmpfloat(one.out_blocks[1] / one.out_blocks[0], <, 1.5e6);
}

/* A loop whose exit was inferred and never seen has nearly as many rounds as were seen, or more; a
 * loop without an exit a third. */
static void test_unseen_exit(void)
{
	static Case one;
	const double unit = 1.0 / 65536;

	case_init(&one, 3);
	add_edge(&one, 0, 1);
	uint32_t back = add_edge(&one, 1, 1);
	add_edge(&one, 1, 2);
	for (uint32_t b = 0; b < 3; b++)
		one.blocks[b] = (LodeInferenceBlock){.count = b == 1 ? 100 : 10, .weight = 1};
	infer(&one);
	one.edge_steps[back] = 1200;
	g_assert_true(apply(&one, unit));
	check_conserved(&one, unit);
	g_assert_cmpfloat(one.out_blocks[1] / one.out_blocks[0], >, 1000);
	g_assert_cmpfloat(one.out_blocks[1] / one.out_blocks[0], <, 3600);

	case_init(&one, 2);
	add_edge(&one, 0, 1);
	back = add_edge(&one, 1, 1);
	infer(&one);
	one.edge_steps[back] = 1200;
	g_assert_true(apply(&one, unit));
	check_conserved(&one, unit);
	g_assert_cmpfloat_with_epsilon(one.out_blocks[0], 1, 1e-3);
	g_assert_cmpfloat_with_epsilon(one.out_blocks[1], 400, 2);
}

static void test_nothing_observed(void)
{
	static Case one;

	case_init(&one, 2);
	add_edge(&one, 0, 1);
	one.blocks[0].count = 7;
	infer(&one);
	g_assert_false(apply(&one, 1));
	g_assert_cmpfloat(one.out_blocks[0], ==, 7);
}

/* Chains that cross: more work than is done. The flow stays. */
static void test_too_large(void)
{
	enum { N = 1500, N_WAYS = 4 };
	g_autofree LodeInferenceBlock *blocks = g_new0(LodeInferenceBlock, N);
	g_autofree LodeInferenceEdge *edges = g_new0(LodeInferenceEdge, N * N_WAYS);
	g_autofree uint32_t *sizes = g_new0(uint32_t, N);
	g_autofree double *steps = g_new0(double, N *N_WAYS), *none = g_new0(double, N);
	g_autofree double *out_blocks = g_new0(double, N), *out_edges = g_new0(double, N *N_WAYS);
	const LodeInferenceGraph graph = {blocks, N, edges, N * N_WAYS};
	const LodeBranchOutcomes outcomes = {&graph, sizes, steps, none, none};
	LodeInferenceResult result = {.blocks = out_blocks, .edges = out_edges};

	for (uint32_t i = 0; i < N * N_WAYS; i++) {
		edges[i] = (LodeInferenceEdge){.source = i / N_WAYS,
			.target = (uint32_t)random_int_range(0, N),
			.count = -1};
		steps[i] = 1;
	}
	blocks[N - 1].is_exit = true;
	gint64 begin = g_get_monotonic_time();
	bool is_done = lode_branch_outcomes_apply(&outcomes, 1, &result);
	g_test_message("%s in %.2f s", is_done ? "done" : "given up",
		(double)(g_get_monotonic_time() - begin) / 1e6);
	for (uint32_t b = 0; b < N && !is_done; b++)
		g_assert_cmpfloat(out_blocks[b], ==, 0);
}

/*
 * A program to be estimated: one function that is called again and again, whose ways and times are
 * known. Every eighth block waits for long.
 */
typedef struct {
	Case known;
	double taken[MAX_BLOCKS];   /* probability of the second way */
	double seconds[MAX_BLOCKS]; /* of a block, in instructions */
	double executions[MAX_BLOCKS];
} Program;

static uint32_t edge_of(const Case *self, uint32_t block, bool is_second)
{
	for (uint32_t e = 0; e < self->graph.n_edges; e++)
		if (self->edges[e].source == block && self->edges[e].is_fall_through != is_second)
			return e;
	return UINT32_MAX;
}

static double random_double(void)
{
	return (double)random_int_range(0, 1 << 24) / (1 << 24);
}

/* Forward branches over some blocks, and loops of some blocks. */
static void make_program(Program *self)
{
	Case *known = &self->known;

	case_init(known, MAX_BLOCKS);
	for (uint32_t b = 0; b < MAX_BLOCKS; b++) {
		known->sizes[b] = (uint32_t)random_int_range(1, 9);
		self->seconds[b] = known->sizes[b] * (random_int_range(0, 8) == 0 ? 15 : 1);
		self->taken[b] = 0;
		if (b + 1 == MAX_BLOCKS)
			continue;
		add_edge(known, b, b + 1);
		bool is_back = random_int_range(0, 5) == 0;
		uint32_t reach = (uint32_t)random_int_range(2, 7);
		uint32_t target = is_back ? b - MIN(b, reach) : MIN(b + reach, MAX_BLOCKS - 1);
		if (random_int_range(0, 3) == 0 || target == b + 1)
			continue;
		add_edge(known, b, target);
		double p = random_double();
		p = random_bit() ? p : p * p * p * p; /* half of them go nearly always one way */
		self->taken[b] = is_back ? 0.5 + 0.48 * p : random_bit() ? p : 1 - p;
	}
	/* The executions: of 100,000 calls, as they are expected. */
	memset(self->executions, 0, sizeof(self->executions));
	for (unsigned round = 0; round < 20000; round++) {
		double next[MAX_BLOCKS] = {1e5}, change = 0;
		for (uint32_t b = 0; b < MAX_BLOCKS; b++) {
			uint32_t first = edge_of(known, b, false), second = edge_of(known, b, true);
			if (first != UINT32_MAX)
				next[known->edges[first].target] += self->executions[b] *
				                                    (1 - self->taken[b]);
			if (second != UINT32_MAX)
				next[known->edges[second].target] += self->executions[b] *
				                                     self->taken[b];
		}
		for (uint32_t b = 0; b < MAX_BLOCKS; b++)
			change = fmax(change, fabs(next[b] - self->executions[b]));
		memcpy(self->executions, next, sizeof(next));
		if (change < 1e-6)
			break;
	}
}

/* A block in proportion to the time spent in it. */
static uint32_t draw_block(const Program *self)
{
	double all = 0, at;

	for (uint32_t b = 0; b < MAX_BLOCKS; b++)
		all += self->executions[b] * self->seconds[b];
	at = random_double() * all;
	for (uint32_t b = 0; b < MAX_BLOCKS; b++) {
		at -= self->executions[b] * self->seconds[b];
		if (at < 0)
			return b;
	}
	return MAX_BLOCKS - 1;
}

/* Timer samples; what a slow block waits for is seen at one of its instructions. */
static void take_samples(Program *self, unsigned n)
{
	static double sampled[MAX_BLOCKS][16];
	Case *known = &self->known;

	memset(sampled, 0, sizeof(sampled));
	for (unsigned i = 0; i < n; i++) {
		uint32_t b = draw_block(self);
		bool is_slow = self->seconds[b] > 2 * known->sizes[b];
		sampled[b][is_slow ? 0 : (uint32_t)random_int_range(0, (gint32)known->sizes[b])]++;
	}
	for (uint32_t b = 0; b < MAX_BLOCKS; b++) {
		double sum = 0;
		for (uint32_t i = 0; i < known->sizes[b]; i++)
			sum += log1p(sampled[b][i]);
		known->blocks[b].count = expm1(sum / known->sizes[b]) * 256;
		known->blocks[b].weight = known->sizes[b];
	}
	const LodeInferenceOptions options = {.unit = 1, .sample = 256};
	LodeInferenceResult result = {.blocks = known->flow_blocks, .edges = known->flow_edges};
	g_assert_true(lode_flow_inference_solve(&known->graph, &options, &result, NULL));
}

enum { MAX_WINDOWS = 64 };

/* Outcomes in each window of each branch, and those of them that were taken. */
typedef struct {
	double all[MAX_WINDOWS][MAX_BLOCKS], taken[MAX_WINDOWS][MAX_BLOCKS];
	unsigned n;
} Windows;

static void step(Program *self, Windows *windows, unsigned length, unsigned window)
{
	Case *known = &self->known;
	uint32_t b = draw_block(self);

	for (unsigned n = 0; n < length; n += known->sizes[b]) {
		bool is_taken = random_double() < self->taken[b];
		uint32_t e = edge_of(known, b, is_taken);
		windows->all[window][b]++;
		windows->taken[window][b] += is_taken;
		if (e == UINT32_MAX) {
			known->left[b]++;
			known->entered[0]++;
			b = 0;
			continue;
		}
		known->edge_steps[e]++;
		b = known->edges[e].target;
	}
}

/* As many steps in long windows as in short ones. */
static void take_windows(Program *self, Windows *windows, unsigned n)
{
	memset(windows, 0, sizeof(*windows));
	windows->n = n;
	for (unsigned i = 0; i < n; i++) {
		bool is_short = i % 13 != 0;
		step(self, windows,
			(unsigned)(is_short ? random_int_range(64, 129)
					    : random_int_range(1000, 2001)),
			i);
	}
}

/* Times the variance of as many independent outcomes: by leaving out one window after the other. */
static double design_effect(const Windows *windows, uint32_t b)
{
	double all = 0, taken = 0, sum = 0, n_windows = 0;

	for (unsigned i = 0; i < windows->n; i++) {
		all += windows->all[i][b];
		taken += windows->taken[i][b];
		n_windows += windows->all[i][b] > 0;
	}
	double p = taken / all;
	for (unsigned i = 0; i < windows->n; i++)
		if (windows->all[i][b] > 0 && windows->all[i][b] < all) {
			double q = (taken - windows->taken[i][b]) / (all - windows->all[i][b]);
			sum += (q - p) * (q - p);
		}
	double variance = n_windows > 1 ? sum * (n_windows - 1) / n_windows : 0;
	return p > 0 && p < 1 ? fmax(1, variance / (p * (1 - p) / all)) : 1;
}

typedef enum {
	INFERRED,
	WINDOWS_ALONE,
	HALF_1,
	HALF_4,
	INFERRED_HALF,
	INFERRED_1,
	INFERRED_2,
	INFERRED_4,
	INFERRED_1_DESIGN,
	APPLIED, /* the flow that the module gives */
	N_ESTIMATORS,
} Estimator;

static const char *const names[N_ESTIMATORS] = {"inferred", "windows alone", "prior 1/2, m = 1",
	"prior 1/2, m = 4", "prior inferred, m = 1/2", "prior inferred, m = 1",
	"prior inferred, m = 2", "prior inferred, m = 4", "prior inferred, m = 1, design effect",
	"flow (m = 1)"};

static double estimate(const Program *self, const Windows *windows, uint32_t b, Estimator estimator)
{
	const Case *known = &self->known;
	static const double m[N_ESTIMATORS] = {0, 0, 1, 4, 0.5, 1, 2, 4, 1};
	double all = 0, taken = 0, design = 1;
	uint32_t e = edge_of(known, b, true);
	double inferred = known->flow_blocks[b] > 0 ? known->flow_edges[e] / known->flow_blocks[b]
	                                            : 0.5;

	for (unsigned i = 0; i < windows->n; i++) {
		all += windows->all[i][b];
		taken += windows->taken[i][b];
	}
	if (estimator == INFERRED)
		return inferred;
	if (estimator == APPLIED)
		return known->out_blocks[b] > 0 ? known->out_edges[e] / known->out_blocks[b] : 0.5;
	if (estimator == WINDOWS_ALONE)
		return all > 0 ? taken / all : 0.5;
	if (estimator == INFERRED_1_DESIGN && all > 0)
		design = design_effect(windows, b);
	double prior = estimator == HALF_1 || estimator == HALF_4 ? 0.5 : inferred;
	return (m[estimator] * prior + taken / design) / (m[estimator] + all / design);
}

static double overlap(const Program *self, const double *blocks)
{
	double sum = 0, all = 0, executed = 0;

	for (uint32_t b = 0; b < MAX_BLOCKS; b++) {
		all += blocks[b] * self->known.sizes[b];
		executed += self->executions[b] * self->known.sizes[b];
	}
	for (uint32_t b = 0; b < MAX_BLOCKS; b++)
		sum += self->known.sizes[b] * fmin(blocks[b] / all, self->executions[b] / executed);
	return sum;
}

typedef struct {
	double errors[N_ESTIMATORS];
	double inferred_overlap, overlap;
} Measured;

static Measured simulate(unsigned n_windows, unsigned n_programs)
{
	static Program program;
	static Windows windows;
	Measured mean = {.overlap = 0};

	for (unsigned i = 0; i < n_programs; i++) {
		double weight = 0, errors[N_ESTIMATORS] = {0};
		make_program(&program);
		take_samples(&program, 500);
		take_windows(&program, &windows, n_windows);
		g_assert_true(apply(&program.known, 1.0 / 256));
		check_conserved(&program.known, 1.0 / 256);
		for (uint32_t b = 0; b < MAX_BLOCKS; b++) {
			if (edge_of(&program.known, b, true) == UINT32_MAX)
				continue;
			weight += program.executions[b];
			for (unsigned k = 0; k < N_ESTIMATORS; k++)
				errors[k] += program.executions[b] *
				             fabs(estimate(&program, &windows, b, k) -
						     program.taken[b]);
		}
		for (unsigned k = 0; k < N_ESTIMATORS && weight > 0; k++)
			mean.errors[k] += errors[k] / weight / n_programs;
		mean.inferred_overlap += overlap(&program, program.known.flow_blocks) / n_programs;
		mean.overlap += overlap(&program, program.known.out_blocks) / n_programs;
	}
	g_test_message("%u windows: overlap of executions: inferred %.3f, with windows %.3f",
		n_windows, mean.inferred_overlap, mean.overlap);
	for (unsigned k = 0; k < N_ESTIMATORS; k++)
		g_test_message("%2u windows  %-38s %.4f", n_windows, names[k], mean.errors[k]);
	return mean;
}

static void test_simulated(void)
{
	unsigned n = random_rounds(60, 400);
	const Measured few = simulate(4, n), some = simulate(16, n), many = simulate(64, n);

	/* Few windows: the prior helps; many: the observed outcomes decide. */
	g_assert_cmpfloat(few.errors[APPLIED], <, few.errors[INFERRED]);
	g_assert_cmpfloat(few.errors[APPLIED], <, few.errors[WINDOWS_ALONE]);
	g_assert_cmpfloat(some.errors[APPLIED], <, some.errors[INFERRED] / 2);
	g_assert_cmpfloat(many.errors[APPLIED], <, many.errors[INFERRED] / 3);
	g_assert_cmpfloat(many.errors[APPLIED], <, 1.3 * many.errors[WINDOWS_ALONE]);
	g_assert_cmpfloat(some.overlap, >, some.inferred_overlap);
	g_assert_cmpfloat(many.overlap, >, many.inferred_overlap + 0.05);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/branch_outcomes/random", test_random,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	g_test_add_func("/branch_outcomes/long_loop", test_long_loop);
	g_test_add_func("/branch_outcomes/unseen_exit", test_unseen_exit);
	g_test_add_func("/branch_outcomes/nothing_observed", test_nothing_observed);
	add_random_test("/branch_outcomes/too_large", test_too_large,
		"R02S00000000000000000000000000000003", NULL);
	add_random_test("/branch_outcomes/simulated", test_simulated,
		"R02S00000000000000000000000000000004", NULL);
	return g_test_run();
}
