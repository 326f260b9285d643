/* SPDX-License-Identifier: MIT */
/*
 * Costs of calls: against an example worked out by hand, and on random call graphs against a naive
 * way, which finds cycles by who reaches whom and looks again and again for one that is whole.
 */
#include "analyses/calls/call_costs.h"
#include "model/profile.h"

#include "made_profile.h"
#include "seeds.h"

#include <math.h>

enum { MOST = 12 };

/* Functions of one instruction each, whose executions are their costs. */
static LodeProfile *profile_of(const double *costs, guint n)
{
	LodeProfile *profile = made_profile("executions", LODE_EVENT_COUNT, "program");

	for (guint i = 0; i < n; i++) {
		g_autofree char *name = g_strdup_printf("f%u", i);
		made_small_function(profile, name, 0);
		lode_profile_instruction(profile, i)->count = costs[i];
	}
	return profile;
}

static void add_call(LodeProfile *profile, uint32_t caller, uint32_t callee, double count)
{
	made_edge(profile, caller, callee, LODE_EDGE_CALL, count);
}

static const LodeEdge *edge_at(const LodeProfile *profile, guint i)
{
	return &LODE_AT(profile->code.edges, LodeEdge, i);
}

/* main calls a and b, both call work, which costs 90: 60 for a's 40 calls, 30 for b's 20. A jump is
 * no call. */
static void test_example(void)
{
	const double costs[] = {1, 2, 3, 90};
	g_autoptr(LodeProfile) profile = profile_of(costs, 4);

	add_call(profile, 0, 1, 30);
	add_call(profile, 0, 2, 20);
	made_edge(profile, 0, 3, LODE_EDGE_JUMP, 7);
	add_call(profile, 1, 3, 40);
	add_call(profile, 2, 3, 20);
	g_autofree double *found = lode_call_costs_new(profile, 0);
	const double expected[] = {62, 33, 0, 60, 30};
	for (guint i = 0; i < 5; i++)
		g_assert_cmpfloat_with_epsilon(found[i], expected[i], 1e-9);
}

/* a and b call each other: from outside they are one, of 10 + 20 + 70 that they call. */
static void test_cycle(void)
{
	const double costs[] = {5, 10, 20, 70};
	g_autoptr(LodeProfile) profile = profile_of(costs, 4);

	add_call(profile, 0, 1, 3);
	add_call(profile, 0, 2, 1);
	add_call(profile, 1, 2, 9);
	add_call(profile, 2, 1, 9);
	add_call(profile, 2, 3, 5);
	g_autofree double *found = lode_call_costs_new(profile, 0);
	const double expected[] = {75, 25, 0, 0, 70};
	for (guint i = 0; i < 5; i++)
		g_assert_cmpfloat_with_epsilon(found[i], expected[i], 1e-9);
}

/* As deep as no thread's stack is. */
static void test_deep(void)
{
	enum { DEEP = 300000 };
	g_autofree double *costs = g_new(double, DEEP);

	for (guint i = 0; i < DEEP; i++)
		costs[i] = 1;
	g_autoptr(LodeProfile) profile = profile_of(costs, DEEP);
	for (guint i = 0; i + 1 < DEEP; i++)
		add_call(profile, i, i + 1, 1);
	g_autofree double *found = lode_call_costs_new(profile, 0);
	g_assert_cmpfloat_with_epsilon(found[0], DEEP - 1, 1e-6);
}

static bool is_one_cycle(bool reach[MOST][MOST], guint a, guint b)
{
	return a == b || (reach[a][b] && reach[b][a]);
}

static bool is_outer(const LodeProfile *profile, bool reach[MOST][MOST], guint i)
{
	return !is_one_cycle(reach, edge_at(profile, i)->source, edge_at(profile, i)->target);
}

/* Whether all that the cycle of a function calls outside is known. */
static bool is_whole(
	const LodeProfile *profile, bool reach[MOST][MOST], const double *found, uint32_t function)
{
	for (guint i = 0; i < profile->code.edges->len; i++)
		if (is_outer(profile, reach, i) &&
			is_one_cycle(reach, edge_at(profile, i)->source, function) &&
			isnan(found[i]))
			return false;
	return true;
}

static double cost_of_cycle(
	const LodeProfile *profile, bool reach[MOST][MOST], const double *found, uint32_t function)
{
	double cost = 0;

	for (guint i = 0; i < profile->code.functions->len; i++)
		if (is_one_cycle(reach, i, function))
			cost += lode_profile_instruction(profile, i)->count;
	for (guint i = 0; i < profile->code.edges->len; i++)
		if (is_outer(profile, reach, i) &&
			is_one_cycle(reach, edge_at(profile, i)->source, function))
			cost += found[i];
	return cost;
}

static double calls_into_cycle(
	const LodeProfile *profile, bool reach[MOST][MOST], uint32_t function)
{
	double calls = 0;

	for (guint i = 0; i < profile->code.edges->len; i++)
		if (is_outer(profile, reach, i) &&
			is_one_cycle(reach, edge_at(profile, i)->target, function))
			calls += edge_at(profile, i)->count;
	return calls;
}

static void find_naively(const LodeProfile *profile, double *out_found)
{
	bool reach[MOST][MOST] = {{false}};
	guint n = profile->code.functions->len;
	bool is_done = false;

	for (guint i = 0; i < profile->code.edges->len; i++)
		reach[edge_at(profile, i)->source][edge_at(profile, i)->target] = true;
	for (guint k = 0; k < n; k++)
		for (guint i = 0; i < n; i++)
			for (guint j = 0; j < n; j++)
				reach[i][j] |= reach[i][k] && reach[k][j];
	for (guint i = 0; i < profile->code.edges->len; i++)
		out_found[i] = is_outer(profile, reach, i) ? NAN : 0;
	while (!is_done) {
		is_done = true;
		for (guint i = 0; i < profile->code.edges->len; i++) {
			const LodeEdge *edge = edge_at(profile, i);
			if (!isnan(out_found[i]))
				continue;
			is_done = false;
			if (is_whole(profile, reach, out_found, edge->target))
				out_found[i] = cost_of_cycle(
						       profile, reach, out_found, edge->target) *
				               edge->count /
				               calls_into_cycle(profile, reach, edge->target);
		}
	}
}

static void test_random(void)
{
	for (unsigned round = random_rounds(300, 3000); round > 0; round--) {
		guint n = (guint)random_int_range(1, MOST + 1);
		double costs[MOST], expected[4 * MOST];
		for (guint i = 0; i < n; i++)
			costs[i] = random_int_range(0, 100);
		g_autoptr(LodeProfile) profile = profile_of(costs, n);
		for (int i = random_int_range(0, 3 * MOST); i > 0; i--)
			add_call(profile, (uint32_t)random_int_range(0, (gint32)n),
				(uint32_t)random_int_range(0, (gint32)n), random_int_range(1, 50));
		find_naively(profile, expected);
		g_autofree double *found = lode_call_costs_new(profile, 0);
		for (guint i = 0; i < profile->code.edges->len; i++)
			g_assert_cmpfloat_with_epsilon(found[i], expected[i], 1e-6);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/call_costs/example", test_example);
	g_test_add_func("/call_costs/cycle", test_cycle);
	g_test_add_func("/call_costs/deep", test_deep);
	add_random_test(
		"/call_costs/random", test_random, "R02S6d1f0a3c5be27d4499aa01c3b2e45f10", NULL);
	return g_test_run();
}
