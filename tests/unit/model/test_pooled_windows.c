/* SPDX-License-Identifier: MIT */
/* Pooled shares are sums over the set, and their errors those of a naive computation. */
#include "model/observed/pooled_windows.h"

#include "model/observed/windows.h"
#include "model/profile.h"

#include <math.h>

enum { FUNCTIONS = 7, EACH = 5, N = FUNCTIONS * EACH };

static LodeProfile *make_profile(uint32_t each)
{
	LodeProfile *profile = lode_profile_new();

	profile->windows = lode_windows_new();
	for (uint32_t i = 0; i < N; i++) {
		const LodeInstruction instruction = {.function = i / each};
		g_array_append_val(profile->code.instructions, instruction);
	}
	return profile;
}

static void add_random_facts(LodeProfile *profile, GRand *random)
{
	for (uint32_t i = 0; i < N; i++) {
		LodeObservedInstruction facts = {.instruction = i, .steps = 50};
		facts.outcomes = (uint32_t)g_rand_int_range(random, 0, 20);
		facts.unforetold = (uint32_t)g_rand_int_range(random, 0, (int)facts.outcomes + 1);
		facts.accesses = 40;
		facts.split = (uint32_t)g_rand_int_range(random, 0, 40);
		if (g_rand_int_range(random, 0, 3) > 0)
			g_array_append_val(profile->windows->instructions, facts);
	}
}

/* By two passes over the clusters, which are functions. */
static double naive_error(const LodeProfile *profile, double share)
{
	double hits[FUNCTIONS] = {0}, cases[FUNCTIONS] = {0}, all = 0, squares = 0;
	int n = 0;

	for (guint i = 0; i < profile->windows->instructions->len; i++) {
		const LodeObservedInstruction *facts = &LODE_AT(
			profile->windows->instructions, LodeObservedInstruction, i);
		hits[facts->instruction / EACH] += facts->unforetold;
		cases[facts->instruction / EACH] += facts->outcomes;
	}
	for (int f = 0; f < FUNCTIONS; f++) {
		double rest = hits[f] - share * cases[f];
		squares += rest * rest;
		all += cases[f];
		n += cases[f] > 0;
	}
	double likely = (share * all + 0.5) / (all + 1);
	return fmax(sqrt(squares * n / (n - 1)) / all, sqrt(likely * (1 - likely) / all));
}

static void test_random(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(11);
	uint32_t set[N];

	for (uint32_t i = 0; i < N; i++)
		set[i] = i;
	for (int round = 0; round < 100; round++) {
		g_autoptr(LodeProfile) profile = make_profile(EACH);
		double hits = 0, cases = 0;
		add_random_facts(profile, random);
		for (guint i = 0; i < profile->windows->instructions->len; i++) {
			const LodeObservedInstruction *facts = &LODE_AT(
				profile->windows->instructions, LodeObservedInstruction, i);
			hits += facts->unforetold;
			cases += facts->outcomes;
		}
		LodePooledWindows pooled = lode_pooled_windows(profile, set, N);
		const LodePooledShare *share = &pooled.shares[LODE_POOLED_UNFORETOLD];
		g_assert_cmpfloat(share->hits, ==, hits);
		g_assert_cmpfloat(share->cases, ==, cases);
		g_assert_cmpfloat_with_epsilon(share->share, hits / cases, 1e-12);
		g_assert_cmpfloat_with_epsilon(
			share->error, naive_error(profile, share->share), 1e-9);
		g_assert_cmpuint(pooled.instructions, ==, profile->windows->instructions->len);
		g_assert_cmpfloat(pooled.steps, ==, 50.0 * pooled.instructions);
		g_assert_cmpfloat(
			pooled.shares[LODE_POOLED_SPLIT].cases, ==, 40.0 * pooled.instructions);
	}
}

static void test_ways(void)
{
	g_autoptr(LodeProfile) profile = make_profile(1);
	const uint32_t set[] = {0, 1, 2, 3};
	static const LodeObservedInstruction facts[] = {
		{.instruction = 0, .steps = 10, .outcomes = 4}, /* 5 and 5 */
		{.instruction = 1, .steps = 10},                /* one way */
		{.instruction = 2, .steps = 1},                 /* once */
		{.instruction = 9, .steps = 10},                /* not of the set */
	};
	static const LodeObservedEdge edges[] = {
		{0, 1, 5, 1}, {0, 4, 5, 1}, {1, 2, 10, 1}, {2, 3, 1, 1}, {9, 10, 3, 1}};

	g_array_append_vals(profile->windows->instructions, facts, G_N_ELEMENTS(facts));
	g_array_append_vals(profile->windows->edges, edges, G_N_ELEMENTS(edges));
	LodePooledWindows pooled = lode_pooled_windows(profile, set, G_N_ELEMENTS(set));
	const LodePooledShare *unjudged = &pooled.shares[LODE_POOLED_UNJUDGED];
	const LodePooledShare *differing = &pooled.shares[LODE_POOLED_DIFFERING];
	g_assert_cmpfloat(unjudged->hits, ==, 6);
	g_assert_cmpfloat(unjudged->cases, ==, 21);
	/* two of ten are alike in 2 × 5 × 4 of 10 × 9 pairs */
	g_assert_cmpfloat_with_epsilon(differing->hits, 10 * (1 - 40 / 90.0), 1e-12);
	g_assert_cmpfloat(differing->cases, ==, 20);
	g_assert_cmpuint(differing->functions, ==, 2);
	g_assert_cmpuint(pooled.instructions, ==, 3);
}

static void test_few(void)
{
	g_autoptr(LodeProfile) profile = make_profile(N);
	const uint32_t set[] = {3};
	static const LodeObservedInstruction facts = {
		.instruction = 3, .steps = 10, .line_visits = 4, .line_used_bytes = 64};

	LodePooledWindows pooled = lode_pooled_windows(profile, set, 1);
	g_assert_true(isnan(pooled.shares[LODE_POOLED_DENORMAL].share));
	g_array_append_val(profile->windows->instructions, facts);
	pooled = lode_pooled_windows(profile, set, 1);
	g_assert_cmpfloat(pooled.shares[LODE_POOLED_DENORMAL].share, ==, 0);
	g_assert_cmpfloat(pooled.shares[LODE_POOLED_DENORMAL].error, >, 0.05);
	g_assert_cmpfloat(pooled.shares[LODE_POOLED_LINE_USED].share, ==, 0.25);
	g_assert_true(isnan(pooled.shares[LODE_POOLED_SPLIT].share));
	lode_windows_free(profile->windows);
	profile->windows = NULL;
	pooled = lode_pooled_windows(profile, set, 1);
	g_assert_cmpuint(pooled.functions, ==, 0);
	g_assert_true(isnan(pooled.shares[LODE_POOLED_DENORMAL].error));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pooled_windows/random", test_random);
	g_test_add_func("/pooled_windows/ways", test_ways);
	g_test_add_func("/pooled_windows/few", test_few);
	return g_test_run();
}
