/* SPDX-License-Identifier: MIT */
/* That context switches are recorded all the time where they are few, and bounded where not; what
 * all of a recording takes. */
#include "record/budgets/budgets.h"

/* Records in `seconds` of a program that makes `rate` a second; lode looks each `round_us`. */
static double recorded(double rate, gint64 round_us, int seconds, unsigned *out_stops)
{
	LodeSwitchBudget budget;
	bool is_on = true;
	double n = 0;

	*out_stops = 0;
	lode_switch_budget_init(&budget, 1000);
	for (gint64 now_us = 0; now_us < seconds * G_USEC_PER_SEC; now_us += round_us) {
		uint64_t records = is_on ? (uint64_t)(rate * (double)round_us / 1e6) : 0;
		bool was_on = is_on;
		n += (double)records;
		is_on = lode_switch_budget_take(&budget, records, 1000 + now_us + round_us);
		*out_stops += was_on && !is_on;
	}
	return n;
}

static void test_few(void)
{
	unsigned stops;

	g_assert_cmpfloat(recorded(LODE_SWITCHES_PER_SECOND - 100, 250000, 100, &stops), >=,
		99 * (LODE_SWITCHES_PER_SECOND - 100));
	g_assert_cmpuint(stops, ==, 0);
}

static void test_many(void)
{
	static const double rates[] = {20000, 200000, 2000000};
	static const gint64 rounds_us[] = {10000, 250000};
	enum { SECONDS = 200 };
	unsigned stops;

	for (size_t i = 0; i < G_N_ELEMENTS(rates); i++)
		for (size_t j = 0; j < G_N_ELEMENTS(rounds_us); j++) {
			double n = recorded(rates[i], rounds_us[j], SECONDS, &stops);
			double most = LODE_SWITCHES_AT_ONCE +
			              (double)SECONDS * LODE_SWITCHES_PER_SECOND;
			/* a round is seen when it is over */
			g_assert_cmpfloat(n, <=, most + rates[i] * (double)rounds_us[j] / 1e6);
			g_assert_cmpfloat(n, >=, most / 2);
			/* switched on again, and not all the time on and off */
			g_assert_cmpuint(stops, >, 1);
			g_assert_cmpuint(stops, <, 4 * SECONDS);
		}
}

/* Dense from 3,000 switches a second on, whether all are recorded or few, and until there are half
 * as many. */
static void test_dense(void)
{
	static const struct {
		double rate; /* records a second */
		bool is_dense;
	} phases[] = {{5000, false}, {9000, true}, {4500, true}, {2700, false}, {400000, true}};
	enum { ROUND_US = 20000, ROUNDS = 500 };
	LodeSwitchBudget budget;
	gint64 now_us = 1000;
	bool is_on = true;

	lode_switch_budget_init(&budget, now_us);
	for (size_t i = 0; i < G_N_ELEMENTS(phases); i++) {
		for (unsigned k = 0; k < ROUNDS; k++) {
			now_us += ROUND_US;
			double n = is_on ? phases[i].rate * ROUND_US / 1e6 : 0;
			is_on = lode_switch_budget_take(&budget, (uint64_t)n, now_us);
		}
		g_assert_true(budget.are_dense == phases[i].is_dense);
	}
}

/* A clock that goes back gives nothing. */
static void test_clock(void)
{
	LodeSwitchBudget budget;

	lode_switch_budget_init(&budget, 5000);
	g_assert_true(lode_switch_budget_take(&budget, LODE_SWITCHES_AT_ONCE, 4000));
	g_assert_false(lode_switch_budget_take(&budget, 1, 4000));
	g_assert_false(lode_switch_budget_take(&budget, 0, 4000));
	g_assert_true(lode_switch_budget_take(&budget, 0, 4000 + G_USEC_PER_SEC));
}

/* 150,000 a second are reported for a fifteenth of the time at most, and 2,000 always. */
static void test_mappings(void)
{
	enum { ROUND_US = 10000, ROUNDS = 3000, RATES = 2 };
	static const unsigned rates[RATES] = {150000, 2000};
	double on[RATES] = {0};

	for (int i = 0; i < RATES; i++) {
		LodeSwitchBudget budget;
		gint64 now_us = 1000;
		bool is_on = true;

		lode_switch_budget_init(&budget, now_us);
		for (int k = 0; k < ROUNDS; k++) {
			if (is_on)
				lode_switch_budget_charge(&budget,
					LODE_MAPPING_RECORDS * rates[i] * ROUND_US / 1000000);
			on[i] += is_on;
			is_on = lode_switch_budget_take(&budget, 0, now_us += ROUND_US);
		}
	}
	g_assert_cmpfloat(on[0], <=, ROUNDS / 15);
	g_assert_cmpfloat(on[1], ==, ROUNDS);
}

/* Twelve descriptors at 2 % of the time: 166 threads and processes a second, or 2,500 at once. */
static void test_tasks(void)
{
	LodeTaskBudget budget;
	uint64_t n = 0;
	gint64 now_us = 1000;

	lode_task_budget_init(&budget, now_us);
	g_assert_false(lode_task_budget_is_over(&budget, n += 2400, 12, now_us));
	for (int i = 0; i < 1000; i++)
		g_assert_false(lode_task_budget_is_over(&budget, n += 3, 12, now_us += 20000));
	g_assert_cmpfloat_with_epsilon(budget.rate, 5400 / 20.0, 1e-6);
	int n_rounds = 0;
	while (!lode_task_budget_is_over(&budget, n += 20, 12, now_us += 20000))
		n_rounds++;
	/* 20 a round are 16.67 more than grow again. */
	g_assert_cmpint(n_rounds, >=, 5);
	g_assert_cmpint(n_rounds, <=, 2500 / 16);
}

/* Within a twentieth, or 60 ms, nothing is said; beyond, the dearest part is named. */
static void test_own_cost(void)
{
	LodeOwnCost cost = {.ns = {[LODE_COST_SAMPLES] = 30e6, [LODE_COST_TASKS] = 25e6}};

	g_assert_false(lode_own_cost_is_over(&cost, 100e6));
	g_assert_null(lode_own_cost_text(&cost, 100e6));
	g_assert_null(lode_own_cost_text(&cost, 0));
	cost.ns[LODE_COST_TASKS] = 55e6;
	g_assert_false(lode_own_cost_is_over(&cost, 2000e6));
	g_assert_true(lode_own_cost_is_over(&cost, 1000e6));
	g_autofree char *text = lode_own_cost_text(&cost, 1000e6);
	g_assert_cmpstr(text, ==,
		"lode took some 8.5 % of the program's time, 5.5 % for threads and processes that "
		"start");
	g_autofree char *all = lode_own_cost_text(&cost, 50e6);
	g_assert_true(g_str_has_prefix(all, "lode took some 100.0 % "));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/record/switch-budget/few", test_few);
	g_test_add_func("/record/switch-budget/many", test_many);
	g_test_add_func("/record/switch-budget/dense", test_dense);
	g_test_add_func("/record/switch-budget/clock", test_clock);
	g_test_add_func("/record/switch-budget/mappings", test_mappings);
	g_test_add_func("/record/switch-budget/tasks", test_tasks);
	g_test_add_func("/record/switch-budget/own-cost", test_own_cost);
	return g_test_run();
}
