/* SPDX-License-Identifier: MIT */
/* The search of several ranks against that of one process, which has to give the same bits. */
#include "analyses/mine/rank_results.h"

#include "analyses/mine/miner.h"
#include "base/error.h"
#include "random_case.h"
#include "run_comparison.h"
#include "seeds.h"
#include "thread_ranks.h"

static LodeMiningRun *mine_alone(const RandomCase *random)
{
	g_autoptr(GError) error = NULL;
	LodeMiningRun *run = lode_miner_run(
		random->graph, &random->parameters, "real", NULL, &error);

	g_assert_no_error(error);
	return run;
}

/* Adds the sequences to `total`. */
static bool check_ranks(const RandomCase *random, unsigned n, uint64_t *total)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeMiningRun) expected = mine_alone(random);
	bool differs;
	g_autoptr(LodeMiningRun) actual = thread_ranks_mine(
		random->graph, &random->parameters, n, &differs, NULL, &error);

	g_assert_no_error(error);
	*total += expected->sequences->len;
	if (differs)
		random_case_fail(random, "%u ranks: they have different runs", n);
	else if (!runs_are_identical(expected, actual)) {
		g_autofree char *difference = run_difference(expected, actual);
		random_case_fail(random, "%u ranks: %s", n,
			difference != NULL ? difference : "not the same bits");
	} else
		return true;
	return false;
}

static void test_random_graphs(void)
{
	const uint32_t n_cases = random_rounds(200, 1000);
	uint64_t total = 0;

	for (uint32_t seed = 1; seed <= n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		random->parameters.threads = 1 + seed % 2;
		if (!check_ranks(random, 1 + seed % 5, &total))
			return;
	}
	g_assert_cmpuint(total, >, n_cases);
}

/* Levels whose members are sorted, and whose waves are split: --memory is small. */
static void test_large_graphs(void)
{
	const uint32_t n_cases = random_rounds(20, 200);
	uint64_t total = 0;

	for (uint32_t seed = 1; seed <= n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		random->parameters.iterations = MIN(random->parameters.iterations, 3);
		random->parameters.min_support = MAX(random->parameters.min_support, 0.1);
		g_autoptr(RandomCase) repeated = random_case_repeat(
			random, 4000 / MAX(random->graph->n_vertices, 1) + 1);
		repeated->parameters.threads = 1;
		repeated->parameters.memory_bytes = 32 << 20;
		if (!check_ranks(repeated, 1 + seed % 3, &total))
			return;
	}
	g_assert_cmpuint(total, >, n_cases);
}

static void test_many_items(void)
{
	const uint32_t n_cases = random_rounds(30, 200);
	uint64_t total = 0;

	for (uint32_t seed = 4000; seed < 4000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		g_autoptr(RandomCase) widened = random_case_widen(random, 65);
		widened->parameters.iterations = MIN(random->parameters.iterations, 3);
		widened->parameters.min_functions = 1;
		widened->parameters.threads = 1;
		if (!check_ranks(widened, 3, &total))
			return;
	}
	g_assert_cmpuint(total, >, n_cases);
}

/* A limit keeps the same sequences, and --top looks for the threshold with all ranks. */
static void test_limits(void)
{
	const uint32_t n_cases = random_rounds(40, 200);
	uint64_t total = 0;

	for (uint32_t seed = 1000; seed < 1000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		random->parameters.iterations = MIN(random->parameters.iterations, 3);
		random->parameters.threads = 1;
		if (seed % 2 == 0)
			random->parameters.max_sequences = 1 + seed % 7;
		else
			random->parameters.top = 1 + seed % 40;
		if (!check_ranks(random, 2 + seed % 2, &total))
			return;
	}
	g_assert_cmpuint(total, >, n_cases);
}

/* All ranks fail where one has too little memory. */
static void test_memory(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(RandomCase) random = random_case_new(3);
	g_autoptr(RandomCase) repeated = random_case_repeat(random, 2000);
	bool differs;

	repeated->parameters.memory_bytes = 1000;
	g_assert_null(thread_ranks_mine(
		repeated->graph, &repeated->parameters, 3, &differs, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/rank-results/random-graphs", test_random_graphs);
	g_test_add_func("/rank-results/large-graphs", test_large_graphs);
	g_test_add_func("/rank-results/many-items", test_many_items);
	g_test_add_func("/rank-results/limits", test_limits);
	g_test_add_func("/rank-results/memory", test_memory);
	return g_test_run();
}
