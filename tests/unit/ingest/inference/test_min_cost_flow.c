/* SPDX-License-Identifier: MIT */
/* The solver beside a naive one, on random networks. */
#include "ingest/inference/min_cost_flow.h"

#include "naive_flow.h"
#include "seeds.h"

#include <string.h>

enum { MAX_NODES = 400, N_SMALL_NODES = 12, N_CASES = 2000, ENOUGH_WORK = 20000 };

typedef struct {
	uint32_t n_nodes;
	GArray *arcs;
	int64_t excess[MAX_NODES];
} Case;

static void add_arcs(Case *self, GRand *random, uint32_t n_arcs, int32_t largest, int32_t dearest)
{
	for (uint32_t i = 0; i < n_arcs; i++) {
		NaiveArc arc = {
			.source = g_rand_int(random) % self->n_nodes,
			.target = g_rand_int(random) % self->n_nodes,
			.capacity = g_rand_int_range(random, 0, largest),
			.cost = g_rand_int_range(random, 0, dearest),
		};
		g_array_append_val(self->arcs, arc);
	}
}

static void add_supplies(Case *self, GRand *random, uint32_t n_supplies, int32_t largest)
{
	for (uint32_t i = 0; i < n_supplies; i++) {
		int64_t amount = g_rand_int_range(random, 0, largest);
		self->excess[g_rand_int(random) % self->n_nodes] += amount;
		self->excess[g_rand_int(random) % self->n_nodes] -= amount;
	}
}

static void case_init(Case *self, GRand *random)
{
	self->n_nodes = (uint32_t)g_rand_int_range(random, 2, N_SMALL_NODES + 1);
	self->arcs = g_array_new(FALSE, TRUE, sizeof(NaiveArc));
	uint32_t n_arcs = (uint32_t)g_rand_int_range(random, 1, 4 * N_SMALL_NODES);
	int32_t largest = g_rand_boolean(random) ? 5 : 1000000,
		dearest = g_rand_int_range(random, 1, 40);

	add_arcs(self, random, n_arcs, largest, dearest);
	add_supplies(self, random, 4, largest);
}

static LodeMinCostFlow *solver_of(const Case *self)
{
	LodeMinCostFlow *solver = lode_min_cost_flow_new(self->n_nodes, self->arcs->len);

	for (uint32_t i = 0; i < self->arcs->len; i++) {
		const NaiveArc *arc = &g_array_index(self->arcs, NaiveArc, i);
		lode_min_cost_flow_add_arc(solver,
			(LodeMinCostArc){arc->source, arc->target, arc->capacity, arc->cost});
	}
	for (uint32_t v = 0; v < self->n_nodes; v++)
		lode_min_cost_flow_add_supply(solver, v, self->excess[v]);
	return solver;
}

/* Capacities hold, and each node has sent on what it did not keep. Gives the cost. */
static int64_t check_flow(const Case *self, const LodeMinCostFlow *solver)
{
	int64_t cost = 0, left[MAX_NODES];

	memcpy(left, self->excess, sizeof(left));
	for (uint32_t i = 0; i < self->arcs->len; i++) {
		const NaiveArc *arc = &g_array_index(self->arcs, NaiveArc, i);
		int64_t sent = lode_min_cost_flow_sent(solver, i);
		g_assert_cmpint(sent, >=, 0);
		g_assert_cmpint(sent, <=, arc->capacity);
		left[arc->source] -= sent;
		left[arc->target] += sent;
		cost += sent * arc->cost;
	}
	for (uint32_t v = 0; v < self->n_nodes; v++)
		g_assert_cmpint(left[v], ==, lode_min_cost_flow_excess(solver, v));
	return cost;
}

/* No arc with room costs less than its ends' prices allow. */
static void check_prices(const Case *self, const LodeMinCostFlow *solver)
{
	for (uint32_t i = 0; i < self->arcs->len; i++) {
		int64_t sent = lode_min_cost_flow_sent(solver, i);
		int64_t reduced = lode_min_cost_flow_reduced_cost(solver, i);
		if (sent < g_array_index(self->arcs, NaiveArc, i).capacity)
			g_assert_cmpint(reduced, >=, 0);
		if (sent > 0)
			g_assert_cmpint(reduced, <=, 0);
	}
}

static void test_random(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(1993));
	unsigned n_optimal = 0;

	for (unsigned i = 0; i < N_CASES; i++) {
		Case one = {0};
		case_init(&one, random);
		g_autoptr(LodeMinCostFlow) solver = solver_of(&one);
		LodeMinCostFlowStatus status = lode_min_cost_flow_solve(solver, ENOUGH_WORK);
		int64_t cost = check_flow(&one, solver);
		bool is_feasible = naive_flow_solve(one.arcs, one.excess, one.n_nodes);

		g_assert_cmpint(status, ==,
			is_feasible ? LODE_MIN_COST_FLOW_OPTIMAL : LODE_MIN_COST_FLOW_INFEASIBLE);
		check_prices(&one, solver);
		if (is_feasible)
			g_assert_cmpint(cost, ==, naive_flow_cost(one.arcs));
		n_optimal += is_feasible;
		g_array_unref(one.arcs);
	}
	g_assert_cmpuint(n_optimal, >=, 500);
}

static void test_limited(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(9));
	unsigned n_limited = 0;

	for (unsigned i = 0; i < N_CASES; i++) {
		Case one = {0};
		case_init(&one, random);
		g_autoptr(LodeMinCostFlow) solver = solver_of(&one);
		n_limited += lode_min_cost_flow_solve(solver, i % 100) ==
		             LODE_MIN_COST_FLOW_LIMITED;
		check_flow(&one, solver);
		g_array_unref(one.arcs);
	}
	g_assert_cmpuint(n_limited, >=, 100);
}

/*
 * Networks that take more work than searches one by one are given. That each arc agrees with the
 * prices proves a flow that sends everything to be the cheapest.
 */
static void test_large(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(98));
	unsigned n_hard = 0;

	for (unsigned i = 0; i < 40; i++) {
		Case one = {.n_nodes = MAX_NODES};
		one.arcs = g_array_new(FALSE, TRUE, sizeof(NaiveArc));
		int32_t largest = i % 2 == 0 ? 5 : 1000000;
		add_arcs(&one, random, (2 + i % 5) * MAX_NODES, largest, 1 + (int32_t)i);
		/* A dear way round, by which everything gets everywhere. */
		for (uint32_t v = 0; v < MAX_NODES; v++) {
			NaiveArc way = {.source = v,
				.target = (v + 1) % MAX_NODES,
				.capacity = INT64_C(1) << 40,
				.cost = 50};
			g_array_append_val(one.arcs, way);
		}
		add_supplies(&one, random, MAX_NODES / (1 + i % 3), largest / 2);
		g_autoptr(LodeMinCostFlow) solver = solver_of(&one);
		g_autoptr(LodeMinCostFlow) hurried = solver_of(&one);
		LodeMinCostFlowStatus status = lode_min_cost_flow_solve(solver, UINT64_MAX);

		check_flow(&one, solver);
		check_prices(&one, solver);
		g_assert_cmpint(status, ==, LODE_MIN_COST_FLOW_OPTIMAL);
		for (uint32_t v = 0; v < one.n_nodes; v++)
			g_assert_cmpint(lode_min_cost_flow_excess(solver, v), ==, 0);
		n_hard += lode_min_cost_flow_solve(hurried, 1 << 17) == LODE_MIN_COST_FLOW_LIMITED;
		check_flow(&one, hurried);
		check_prices(&one, hurried);
		g_array_unref(one.arcs);
	}
	g_assert_cmpuint(n_hard, >=, 5);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/min-cost-flow/random", test_random);
	g_test_add_func("/min-cost-flow/limited", test_limited);
	g_test_add_func("/min-cost-flow/large", test_large);
	return g_test_run();
}
