/* SPDX-License-Identifier: MIT */
/* How often a traced program is looked at, and which threads are: cost and weights. */
#include "record/budgets/budgets.h"

#include <glib.h>

enum { SECOND = 1000000000 };

static void test_share(void)
{
	LodeStopBudget budget;

	lode_stop_budget_init(&budget, 0, 1);
	for (int i = 0; i < 200; i++)
		lode_stop_budget_add_sample(&budget, 84000);
	/* 40 ms in the first half second, 3.5 % later */
	g_assert_cmpfloat_with_epsilon(
		lode_stop_budget_interval_ns(&budget, SECOND / 4), 1050e3, 1e4);
	g_assert_cmpfloat_with_epsilon(lode_stop_budget_interval_ns(&budget, SECOND), 2.4e6, 1e4);
	/* stops for other reasons take a hundredth: 2.5 % are left */
	lode_stop_budget_add_other(&budget, SECOND / 100, SECOND);
	g_assert_cmpfloat_with_epsilon(
		lode_stop_budget_interval_ns(&budget, SECOND + 1000), 3.36e6, 1e4);
	/* and nothing when none came any more */
	g_assert_cmpfloat_with_epsilon(
		lode_stop_budget_interval_ns(&budget, 3 * (uint64_t)SECOND), 2.4e6, 1e4);
}

static void test_bounds(void)
{
	LodeStopBudget budget;

	lode_stop_budget_init(&budget, 100, 1);
	g_assert_cmpfloat(lode_stop_budget_interval_ns(&budget, 2), ==, 1e7);
	lode_stop_budget_init(&budget, 0, 1);
	for (int i = 0; i < 200; i++)
		lode_stop_budget_add_round(&budget, 3000000);
	/* many threads: lode is busy for three tenths of the time at most */
	g_assert_cmpfloat_with_epsilon(lode_stop_budget_interval_ns(&budget, SECOND), 1e7, 1e5);
	for (int i = 0; i < 200; i++)
		lode_stop_budget_add_round(&budget, SECOND);
	g_assert_cmpfloat(lode_stop_budget_interval_ns(&budget, SECOND), ==, 5e7);
}

/* The sum of the weights of looks at a thread that runs at times is the time for which it ran. */
static void test_chances(void)
{
	double ran = 0, weighed = 0;
	unsigned n_waited = 0;
	GRand *random = g_rand_new_with_seed(7);

	g_assert_cmpfloat(lode_stop_budget_chance(0, 1000), ==, 1);
	g_assert_cmpfloat(lode_stop_budget_chance(100, 10), ==, 1);
	for (unsigned i = 0; i < 400000; i++) {
		bool runs = i / 50 % 20 == 0;
		double chance = lode_stop_budget_chance(n_waited, 240);
		ran += runs;
		if (g_rand_double(random) >= chance)
			continue;
		weighed += runs ? 1 / chance : 0;
		n_waited = runs ? 0 : n_waited + 1;
	}
	g_rand_free(random);
	g_assert_cmpfloat_with_epsilon(weighed / ran, 1, 0.05);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/stop_budget/share", test_share);
	g_test_add_func("/record/stop_budget/bounds", test_bounds);
	g_test_add_func("/record/stop_budget/chances", test_chances);
	return g_test_run();
}
