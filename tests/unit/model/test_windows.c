/* SPDX-License-Identifier: MIT */
/* Searches find what a walk over all observations finds. */
#include "model/observed/windows.h"

#include "model/index.h"
#include "sources/windows/window_log_format.h"

#include <math.h>

enum { N = 20 };

static LodeWindows *random_windows(GRand *random)
{
	LodeWindows *windows = lode_windows_new();

	for (uint32_t source = 0; source < N; source++) {
		const LodeObservedInstruction facts = {.instruction = source};
		if (g_rand_boolean(random))
			g_array_append_val(windows->instructions, facts);
		for (uint32_t target = 0; target < N; target++) {
			const LodeObservedEdge edge = {source, target, g_rand_int(random), 1};
			if (g_rand_int_range(random, 0, 4) == 0)
				g_array_append_val(windows->edges, edge);
		}
	}
	return windows;
}

static void test_find(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(7);

	for (int round = 0; round < 50; round++) {
		g_autoptr(LodeWindows) windows = random_windows(random);
		uint64_t outcomes[N] = {0};
		const LodeObservedEdge *by_ends[N][N] = {{NULL}};
		const LodeObservedInstruction *facts[N] = {NULL};
		for (guint i = 0; i < windows->edges->len; i++) {
			const LodeObservedEdge *edge = &g_array_index(
				windows->edges, LodeObservedEdge, i);
			by_ends[edge->source][edge->target] = edge;
			outcomes[edge->source] += edge->steps;
		}
		for (guint i = 0; i < windows->instructions->len; i++) {
			const LodeObservedInstruction *row = &g_array_index(
				windows->instructions, LodeObservedInstruction, i);
			facts[row->instruction] = row;
		}
		for (uint32_t source = 0; source < N; source++) {
			g_assert_true(lode_windows_find(windows, source) == facts[source]);
			g_assert_cmpuint(
				lode_windows_outcomes(windows, source), ==, outcomes[source]);
			for (uint32_t target = 0; target < N; target++)
				g_assert_true(lode_windows_find_edge(windows, source, target) ==
					      by_ends[source][target]);
		}
		g_assert_null(lode_windows_find(windows, N));
		g_assert_cmpuint(lode_windows_outcomes(windows, N), ==, 0);
	}
}

static void test_sums(void)
{
	g_autoptr(LodeWindows) windows = lode_windows_new();
	static const LodeObservedInstruction facts[] = {
		{.instruction = 0, .steps = 7000, .denormals = 40},
		{.instruction = 1, .steps = 1000, .outcomes = 500, .unforetold = 50},
		{.instruction = 2, .steps = 1970, .outcomes = 99, .denormals = 2},
		{.instruction = 3, .steps = 30, .outcomes = 29, .unforetold = 29},
		{.instruction = 4, .outcomes = 1},
	};

	g_array_append_vals(windows->instructions, facts, G_N_ELEMENTS(facts));
	LodeWindowSums sums = lode_windows_sums(windows);
	g_assert_cmpuint(sums.outcomes, ==, 599);
	g_assert_cmpuint(sums.denormals, ==, 42);
	g_assert_true(isnan(sums.unforetold_per_thousand));
	LODE_AT(windows->instructions, LodeObservedInstruction, 2).outcomes++;
	sums = lode_windows_sums(windows);
	g_assert_cmpuint(sums.outcomes, ==, 600);
	g_assert_cmpfloat_with_epsilon(sums.unforetold_per_thousand, 10, 1e-9);
	g_assert_true(isnan(sums.unjudged_per_thousand));
	static const LodeObservedEdge edges[] = {
		{0, 1, 7000, 9}, {1, 2, 300, 9}, {1, 3, 200, 9}, {3, 4, 400, 9}, {3, 5, 100, 9}};
	g_array_append_vals(windows->edges, edges, G_N_ELEMENTS(edges));
	sums = lode_windows_sums(windows);
	g_assert_cmpfloat_with_epsilon(sums.unjudged_per_thousand, 1000.0 * 471 / 8000, 1e-9);
}

static void test_obstacles(void)
{
	G_STATIC_ASSERT((int)LODE_N_OBSTACLE_TEXTS == (int)LODE_N_WINDOW_OBSTACLES);
	g_assert_null(lode_window_obstacle_text(LODE_WINDOW_OBSTACLE_NONE));
	for (uint32_t i = LODE_WINDOW_OBSTACLE_HANDLER; i <= LODE_N_WINDOW_OBSTACLES; i++)
		g_assert_nonnull(lode_window_obstacle_text(i));
	g_assert_cmpstr(lode_window_obstacle_text(LODE_WINDOW_OBSTACLE_SECCOMP), ==,
		"limits its system calls (seccomp, user dispatch) or its clock");
	g_assert_cmpstr(lode_window_obstacle_text(LODE_WINDOW_OBSTACLE_EVENT), ==,
		"the kernel gave neither event nor timer");
}

enum { CALL = 1, WAYS = 40 };

/* A call in windows that see it some times each: each goes to one target, or to any of so many. */
static LodeWindows *windows_of_a_call(
	GRand *random, uint32_t n_windows, uint32_t outcomes, uint32_t targets, bool stays)
{
	LodeWindows *windows = lode_windows_new();
	const LodeObservedEdge before = {CALL - 1, CALL, n_windows * outcomes, n_windows};
	LodeObservedEdge edges[WAYS] = {{0}};

	g_array_append_val(windows->edges, before);
	for (uint32_t window = 0; window < n_windows; window++) {
		bool was_here[WAYS] = {false};
		uint32_t way = (uint32_t)g_rand_int_range(random, 0, (int)targets);
		for (uint32_t i = 0; i < outcomes; i++) {
			if (!stays)
				way = (uint32_t)g_rand_int_range(random, 0, (int)targets);
			edges[way].steps++;
			edges[way].windows += !was_here[way];
			was_here[way] = true;
		}
	}
	for (uint32_t way = 0; way < WAYS; way++) {
		edges[way].source = CALL;
		edges[way].target = CALL + 1 + way;
		if (edges[way].steps > 0)
			g_array_append_val(windows->edges, edges[way]);
	}
	return windows;
}

static bool call_stays(
	GRand *random, uint32_t n_windows, uint32_t outcomes, uint32_t targets, bool stays)
{
	g_autoptr(LodeWindows)
		windows = windows_of_a_call(random, n_windows, outcomes, targets, stays);

	return lode_windows_stays(windows, CALL);
}

static void test_stays(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(11);
	int wrong = 0;

	for (uint32_t targets = 1; targets <= WAYS; targets++) {
		g_assert_true(call_stays(random, 5, 3, targets, true));
		g_assert_true(call_stays(random, 3, 5, targets, true));
		g_assert_false(call_stays(random, 3, 4, targets, true));
		g_assert_true(call_stays(random, 60, 40, targets, true));
		/* too few windows, or outcomes in each */
		g_assert_false(call_stays(random, 2, 20, targets, true));
		g_assert_false(call_stays(random, 40, 2, targets, true));
	}
	/* At random, where few windows see only one target by chance: 1 of 1,024 with two targets.
	 */
	for (int round = 0; round < 1000; round++)
		wrong += call_stays(random, 5, 3, 2, false);
	g_assert_cmpint(wrong, <, 10);
	for (uint32_t targets = 2; targets <= WAYS; targets++) {
		g_assert_false(call_stays(random, 30, 5, targets, false));
		g_assert_false(call_stays(random, 30, 100, targets, false));
	}
}

/* The mean is within two errors as often as it should be, where exits come by chance. */
static void test_rounds(void)
{
	enum { LOOPS = 4000, SEEN = 400 };
	static const double leaves[] = {0.5, 0.1, 0.02};
	g_autoptr(GRand) random = g_rand_new_with_seed(7);
	const LodeObservedInstruction few = {.loop_rounds = LODE_OBSERVED_STEPS - 1};
	const LodeObservedInstruction endless = {.loop_rounds = 300};
	const LodeObservedInstruction once = {.loop_rounds = 50, .loop_exits = 50};

	g_assert_true(isnan(lode_window_rounds(NULL).mean));
	g_assert_true(isnan(lode_window_rounds(&few).mean));
	g_assert_true(isnan(lode_window_rounds(&few).least));
	g_assert_true(isnan(lode_window_rounds(&endless).mean));
	g_assert_cmpfloat(lode_window_rounds(&endless).least, ==, 100);
	g_assert_cmpfloat(lode_window_rounds(&once).mean, ==, 1);
	g_assert_cmpfloat(lode_window_rounds(&once).error, ==, 0);
	for (size_t k = 0; k < G_N_ELEMENTS(leaves); k++) {
		unsigned n_within = 0, n_known = 0;
		for (int i = 0; i < LOOPS; i++) {
			LodeObservedInstruction facts = {.loop_rounds = SEEN};
			for (int r = 0; r < SEEN; r++)
				facts.loop_exits += g_rand_double(random) < leaves[k];
			const LodeObservedRounds rounds = lode_window_rounds(&facts);
			if (isnan(rounds.mean))
				continue;
			n_known++;
			n_within += fabs(rounds.mean - 1 / leaves[k]) <= 2 * rounds.error;
		}
		g_test_message("%g: %u of %u", leaves[k], n_within, n_known);
		g_assert_cmpuint(n_known, >, LOOPS * 9 / 10);
		/* 95.4 % of a normal distribution; few exits are not normal */
		g_assert_cmpuint(n_within, >, n_known * 90 / 100);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/windows/find", test_find);
	g_test_add_func("/windows/sums", test_sums);
	g_test_add_func("/windows/stays", test_stays);
	g_test_add_func("/windows/rounds", test_rounds);
	g_test_add_func("/windows/obstacles", test_obstacles);
	return g_test_run();
}
