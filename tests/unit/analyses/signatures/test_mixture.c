/* SPDX-License-Identifier: MIT */
/* Shares of a mixture: the conditions of a maximum, a search of all shares, and known truth. */
#include "analyses/signatures/mixture.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

enum { MAX_COMPONENTS = 4, MAX_SEQUENCES = 40 };

typedef struct {
	double observed[MAX_SEQUENCES];
	double expected[MAX_COMPONENTS * MAX_SEQUENCES];
	LodeMixture mixture;
} Case;

static void normalise(double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	for (size_t i = 0; i < n; i++)
		values[i] /= sum;
}

static void make_case(Case *self, size_t n_components, size_t n)
{
	for (size_t i = 0; i < n_components * n; i++)
		self->expected[i] = random_int_range(0, 3) == 0 ? 0 : random_int_range(1, 1000);
	for (size_t j = 0; j < n_components; j++) {
		self->expected[j * n] += 1;
		normalise(self->expected + j * n, n);
	}
	for (size_t i = 0; i < n; i++)
		self->observed[i] = random_int_range(1, 1000);
	normalise(self->observed, n);
	self->mixture = (LodeMixture){n, n_components, self->observed, self->expected, 1e-3};
}

static double likelihood(const LodeMixture *mixture, const double *shares)
{
	double sum = 0;

	for (size_t s = 0; s < mixture->n_sequences; s++) {
		double p = shares[mixture->n_components] * mixture->unknown;
		for (size_t j = 0; j < mixture->n_components; j++)
			p += shares[j] * mixture->expected[j * mixture->n_sequences + s];
		sum += mixture->observed[s] * log(p);
	}
	return sum;
}

/* Karush, Kuhn and Tucker: the slope of every share is 1 where it is above 0, and else no more. */
static void test_is_maximum(void)
{
	Case a;
	double shares[MAX_COMPONENTS + 1], sum = 0;
	size_t n = (size_t)random_int_range(5, MAX_SEQUENCES);

	make_case(&a, (size_t)random_int_range(1, MAX_COMPONENTS + 1), n);
	lode_mixture_fit(&a.mixture, NULL, 1e-8, shares);
	for (size_t j = 0; j <= a.mixture.n_components; j++) {
		double slope = 0;
		for (size_t s = 0; s < n; s++) {
			double p = shares[a.mixture.n_components] * a.mixture.unknown;
			for (size_t i = 0; i < a.mixture.n_components; i++)
				p += shares[i] * a.expected[i * n + s];
			slope += a.observed[s] / p *
			         (j < a.mixture.n_components ? a.expected[j * n + s]
							     : a.mixture.unknown);
		}
		g_assert_cmpfloat(slope, <, 1 + 1e-3);
		if (shares[j] > 1e-2)
			g_assert_cmpfloat(fabs(slope - 1), <, 1e-3);
		g_assert_cmpfloat(shares[j], >=, 0);
		sum += shares[j];
	}
	g_assert_cmpfloat(fabs(sum - 1), <, 1e-9);
}

/* No shares of two components and the rest, in steps of a hundredth, are likelier. */
static void test_against_search(void)
{
	Case a;
	double shares[3];

	make_case(&a, 2, 20);
	lode_mixture_fit(&a.mixture, NULL, 1e-8, shares);
	double best = likelihood(&a.mixture, shares);
	for (int i = 0; i <= 100; i++)
		for (int j = 0; i + j <= 100; j++) {
			const double tried[3] = {i / 100.0, j / 100.0, (100 - i - j) / 100.0};
			double found = likelihood(&a.mixture, tried);
			if (isfinite(found))
				g_assert_cmpfloat(found, <=, best + 1e-6);
		}
}

/* What is mixed of them is taken apart again. */
static void test_known_truth(void)
{
	Case a;
	double shares[4];
	const double truth[3] = {0.5, 0.3, 0.2};

	make_case(&a, 3, 40);
	a.mixture.unknown = 1e-9;
	for (size_t s = 0; s < 40; s++) {
		a.observed[s] = 0;
		for (size_t j = 0; j < 3; j++)
			a.observed[s] += truth[j] * a.expected[j * 40 + s];
	}
	lode_mixture_fit(&a.mixture, NULL, 1e-8, shares);
	for (size_t j = 0; j < 3; j++)
		g_assert_cmpfloat(fabs(shares[j] - truth[j]), <, 1e-3);
	g_assert_cmpfloat(shares[3], <, 1e-3);
	const bool may_have[3] = {true, false, true};
	lode_mixture_fit(&a.mixture, may_have, 1e-8, shares);
	g_assert_cmpfloat(shares[1], ==, 0);
}

/* A sequence that no component has is of the rest, and of nothing else. */
static void test_rest(void)
{
	const double observed[3] = {0.6, 0.3, 0.1};
	const double expected[3] = {2.0 / 3, 1.0 / 3, 0};
	const LodeMixture mixture = {3, 1, observed, expected, 1e-6};
	double shares[2];

	lode_mixture_fit(&mixture, NULL, 1e-8, shares);
	g_assert_cmpfloat(fabs(shares[0] - 0.9), <, 1e-4);
	g_assert_cmpfloat(fabs(shares[1] - 0.1), <, 1e-4);
	g_assert_cmpfloat(lode_mixture_part(&mixture, shares, 1, 2), ==, 1);
	g_assert_cmpfloat(lode_mixture_part(&mixture, shares, 1, 0), <, 1e-4);
	const LodeMixture nothing = {3, 0, observed, expected, 1e-6};
	lode_mixture_fit(&nothing, NULL, 1e-8, shares);
	g_assert_cmpfloat(shares[0], ==, 1);
}

/* Mixed of components that share sequences, with the rest at 1 in 50. */
static void make_mixed(Case *a, const double truth[4])
{
	make_case(a, 3, 40);
	for (size_t s = 0; s < 40; s++) {
		a->observed[s] = truth[3] / 40;
		for (size_t j = 0; j < 3; j++)
			a->observed[s] += truth[j] * a->expected[j * 40 + s];
	}
	normalise(a->observed, 40);
	a->mixture.unknown = 1.0 / 40;
}

/* The shares that are fitted to slightly different executions change as the influence says. */
static void test_influence(void)
{
	Case a;
	const double truth[4] = {0.5, 0.3, 0.15, 0.05}, step = 1e-4;
	const bool all[3] = {true, true, true};
	double shares[4], changed[4], influence[4 * 40], inverse[16], before[40];

	make_mixed(&a, truth);
	lode_mixture_fit(&a.mixture, NULL, 1e-10, shares);
	lode_mixture_influence(&a.mixture, all, shares, influence, inverse);
	memcpy(before, a.observed, sizeof(before));
	for (size_t s = 0; s < 40; s++) {
		memcpy(a.observed, before, sizeof(before));
		a.observed[s] += step;
		a.observed[(s + 7) % 40] -= MIN(step, before[(s + 7) % 40]);
		double taken = before[(s + 7) % 40] - a.observed[(s + 7) % 40];
		lode_mixture_fit(&a.mixture, NULL, 1e-10, changed);
		for (size_t j = 0; j < 4; j++) {
			double wanted = influence[j * 40 + s] * step -
			                influence[j * 40 + (s + 7) % 40] * taken;
			g_assert_cmpfloat(fabs(changed[j] - shares[j] - wanted), <,
				0.1 * fabs(wanted) + 1e-4);
		}
	}
}

/* 95 % intervals by the influences hold in at least 90 of 100 draws of 2,000 samples. */
static void test_coverage_of_samples(void)
{
	enum { N_DRAWS = 100, N_SAMPLES = 2000 };
	Case a;
	const double truth[4] = {0.5, 0.3, 0.15, 0.05};
	const bool all[3] = {true, true, true};
	unsigned n_held[4] = {0};
	double sums[40], shares[4], influence[4 * 40], inverse[16];

	make_mixed(&a, truth);
	for (size_t s = 0; s < 40; s++)
		sums[s] = (s > 0 ? sums[s - 1] : 0) + a.observed[s];
	for (unsigned draw = 0; draw < N_DRAWS; draw++) {
		memset(a.observed, 0, sizeof(a.observed));
		for (unsigned i = 0; i < N_SAMPLES; i++) {
			double at = random_int_range(0, 1000000) / 1e6;
			size_t s = 0;
			while (s < 39 && sums[s] <= at)
				s++;
			a.observed[s] += 1.0 / N_SAMPLES;
		}
		lode_mixture_fit(&a.mixture, NULL, 1e-8, shares);
		lode_mixture_influence(&a.mixture, all, shares, influence, inverse);
		for (size_t j = 0; j < 4; j++) {
			double squares = 0;
			for (size_t s = 0; s < 40; s++)
				squares += a.observed[s] * influence[j * 40 + s] *
				           influence[j * 40 + s];
			g_assert_cmpfloat(fabs(squares - inverse[j * 4 + j]), <, 1e-3 * squares);
			double error = 1.96 * sqrt((squares - shares[j] * shares[j]) / N_SAMPLES);
			n_held[j] += fabs(shares[j] - truth[j]) <= error;
		}
	}
	for (size_t j = 0; j < 4; j++)
		g_assert_cmpuint(n_held[j], >=, 88);
}

/* Equal components have a sum that is known, and shares that are not. */
static void test_equal_components(void)
{
	const double observed[3] = {0.5, 0.3, 0.2};
	const double expected[6] = {0.5, 0.3, 0.2, 0.5, 0.3, 0.2};
	const LodeMixture mixture = {3, 2, observed, expected, 1e-6};
	const bool all[2] = {true, true};
	double shares[3], influence[9], inverse[9];

	lode_mixture_fit(&mixture, NULL, 1e-8, shares);
	lode_mixture_influence(&mixture, all, shares, influence, inverse);
	g_assert_cmpfloat(inverse[0], >, 1e6);
	g_assert_cmpfloat(fabs(inverse[0] + inverse[1] + inverse[3] + inverse[4] - 1), <, 0.01);
	for (size_t s = 0; s < 3; s++) {
		g_assert_true(isfinite(influence[s]));
		g_assert_cmpfloat(fabs(influence[s] + influence[3 + s] - 1), <, 0.1);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/mixture/is_maximum", test_is_maximum,
		"R02S00000000000000000000000000000011", "R02S00000000000000000000000000000012",
		"R02S00000000000000000000000000000013", "R02S00000000000000000000000000000014",
		NULL);
	add_random_test("/mixture/against_search", test_against_search,
		"R02S00000000000000000000000000000021", "R02S00000000000000000000000000000022",
		NULL);
	add_random_test("/mixture/known_truth", test_known_truth,
		"R02S00000000000000000000000000000031", "R02S00000000000000000000000000000032",
		NULL);
	add_random_test("/mixture/influence", test_influence,
		"R02S00000000000000000000000000000081", "R02S00000000000000000000000000000082",
		NULL);
	add_random_test("/mixture/coverage_of_samples", test_coverage_of_samples,
		"R02S00000000000000000000000000000091", "R02S00000000000000000000000000000092",
		NULL);
	g_test_add_func("/mixture/rest", test_rest);
	g_test_add_func("/mixture/equal_components", test_equal_components);
	return g_test_run();
}
