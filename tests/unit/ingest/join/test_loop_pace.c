/* SPDX-License-Identifier: MIT */
/*
 * The time of an iteration from simulated samples of a loop whose time is known: a timer with
 * jitter, delays, iterations of different length, calls of any length; and what must not be known.
 */
#include "ingest/join/loops/loop_times.h"

#include <glib.h>
#include <math.h>

enum { N_PAIRS = 300, CASES = 300 };

typedef struct {
	double iteration_ns, spread; /* of iterations, relative */
	double period_ns;
	double call_iterations; /* after which the counter begins again at 0; 0: never */
	double delayed;         /* share of pairs in which the thread was delayed */
} Truth;

/* Where the counter is after a time, by its mean speed, and the phase of the calls. */
static double counter_at(const Truth *truth, double time_ns)
{
	double iterations = floor(time_ns / truth->iteration_ns);

	return truth->call_iterations > 0 ? fmod(iterations, truth->call_iterations) : iterations;
}

static size_t simulate(GRand *random, const Truth *truth, LodePace *out)
{
	double worked_ns = g_rand_double_range(random, 0, 1e6);

	for (size_t i = 0; i < N_PAIRS; i++) {
		double before = counter_at(truth, worked_ns);
		double time_ns = truth->period_ns * g_rand_double_range(random, 0.99, 1.01);
		bool is_delayed = g_rand_double(random) < truth->delayed;
		/* the loop is faster and slower for a while */
		worked_ns += time_ns *
		             g_rand_double_range(random, 1 - truth->spread, 1 + truth->spread);
		out[i] = (LodePace){
			.time_ns = time_ns + (is_delayed ? 3 * truth->period_ns : 0),
			.iterations = counter_at(truth, worked_ns) - before,
		};
	}
	return N_PAIRS;
}

static void test_known(void)
{
	static const Truth truths[] = {
		{.iteration_ns = 0.25, .period_ns = 1e5},
		{.iteration_ns = 5.3, .period_ns = 1e6},
		{.iteration_ns = 5.3, .period_ns = 1e5, .spread = 0.4},
		{.iteration_ns = 700, .period_ns = 1e5, .delayed = 0.04},
		{.iteration_ns = 3e4, .period_ns = 1e5},
		{.iteration_ns = 3.3e5, .period_ns = 1e5},
		{.iteration_ns = 5, .period_ns = 1e5, .call_iterations = 1e8},
	};
	LodePace paces[N_PAIRS];
	unsigned n = 0, n_covered = 0;

	for (guint32 seed = 0; seed < CASES; seed++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		const Truth *truth = &truths[seed % G_N_ELEMENTS(truths)];
		LodePaceTime time;
		g_assert_true(lode_pace_time(paces, simulate(random, truth, paces), &time));
		double off = fabs(time.ns - truth->iteration_ns);
		if (off > 6 * time.error_ns || off > 0.2 * truth->iteration_ns)
			g_error("seed %u: %g ± %g, not %g", seed, time.ns, time.error_ns,
				truth->iteration_ns);
		n++;
		n_covered += off <= 2 * time.error_ns;
		g_assert_cmpuint(time.n, ==, N_PAIRS);
	}
	g_test_message("%u of %u within two errors", n_covered, n);
	g_assert_cmpuint(n_covered, >, n * 8 / 10);
}

/* Calls that are about as short as the distance of samples, or shorter. */
static void test_short_calls(void)
{
	LodePace paces[N_PAIRS];

	for (guint32 seed = 0; seed < CASES; seed++) {
		g_autoptr(GRand) random = g_rand_new_with_seed(seed);
		const Truth truth = {
			.iteration_ns = 5,
			.period_ns = 1e5,
			.call_iterations = floor(exp(g_rand_double_range(random, 3, log(2e5)))),
		};
		LodePaceTime time;
		/* some in a hundred lengths are within 3 % of the timer's */
		double calls = truth.period_ns / (truth.iteration_ns * truth.call_iterations);
		if (fabs(calls - round(calls)) < 0.03)
			continue;
		if (lode_pace_time(paces, simulate(random, &truth, paces), &time))
			g_error("seed %u: calls of %g iterations, %g ns", seed,
				truth.call_iterations, time.ns);
	}
}

static void test_unknown(void)
{
	LodePace paces[LODE_PACE_FEWEST];
	LodePaceTime time = {.ns = 7};

	for (size_t i = 0; i < LODE_PACE_FEWEST; i++)
		paces[i] = (LodePace){1000, 0, 100};
	g_assert_false(lode_pace_time(paces, 0, &time));
	g_assert_false(lode_pace_time(paces, LODE_PACE_FEWEST - 1, &time));
	g_assert_cmpfloat(time.ns, ==, 7);
	g_assert_true(lode_pace_time(paces, LODE_PACE_FEWEST, &time));
	g_assert_cmpfloat(time.ns, ==, 10);
	paces[3].iterations = -1;
	g_assert_false(lode_pace_time(paces, LODE_PACE_FEWEST, &time));
	for (size_t i = 0; i < LODE_PACE_FEWEST; i++)
		paces[i].iterations = 0;
	g_assert_false(lode_pace_time(paces, LODE_PACE_FEWEST, &time));
	/* garbage */
	for (size_t i = 0; i < LODE_PACE_FEWEST; i++)
		paces[i].iterations = i % 2 == 0 ? 0 : 9e18;
	g_assert_false(lode_pace_time(paces, LODE_PACE_FEWEST, &time));
}

/* The cost of samples is wrong in all pairs in the same way. */
static void test_error_of_samples(void)
{
	LodePace paces[N_PAIRS];
	LodePaceTime time;

	for (size_t i = 0; i < N_PAIRS; i++)
		paces[i] = (LodePace){1e5, 2000, 2e4};
	g_assert_true(lode_pace_time(paces, N_PAIRS, &time));
	g_assert_cmpfloat_with_epsilon(time.ns, 5, 1e-9);
	g_assert_cmpfloat_with_epsilon(time.error_ns, 0.1, 1e-9);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/loop-pace/known", test_known);
	g_test_add_func("/ingest/loop-pace/short-calls", test_short_calls);
	g_test_add_func("/ingest/loop-pace/unknown", test_unknown);
	g_test_add_func("/ingest/loop-pace/error-of-samples", test_error_of_samples);
	return g_test_run();
}
