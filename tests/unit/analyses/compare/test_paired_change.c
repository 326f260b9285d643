/* SPDX-License-Identifier: MIT */
/* Changes within pairs beside all signs that the differences may have, and in what they promise. */
#include "analyses/compare/paired_change.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

static int order(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The share of all 2^n sets of signs whose positive ranks sum up to at most `most`. */
static double share_of_signs(unsigned n, unsigned most)
{
	unsigned n_below = 0;

	for (unsigned signs = 0; signs < 1u << n; signs++) {
		unsigned sum = 0;
		for (unsigned rank = 1; rank <= n; rank++)
			sum += (signs >> (rank - 1) & 1) != 0 ? rank : 0;
		n_below += sum <= most;
	}
	return n_below / (double)(1u << n);
}

/* By the book: of the sorted means of two, C are left out at each end, for the largest sum of ranks
 * C that is as improbable as is asked. */
static void check_naively(const double *differences, unsigned n, double confidence)
{
	double means[LODE_PAIRED_MAX];
	unsigned n_means = 0, out = 0;
	LodePairedChange change = lode_paired_change(differences, n, confidence);

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i; k < n; k++)
			means[n_means++] = (differences[i] + differences[k]) / 2;
	qsort(means, n_means, sizeof(double), order);
	while (out + 1 < n_means / 2 && share_of_signs(n, out + 1) <= (1 - confidence) / 2)
		out++;
	g_assert_cmpfloat(change.low, ==, means[out]);
	g_assert_cmpfloat(change.high, ==, means[n_means - 1 - out]);
	g_assert_cmpfloat_with_epsilon(change.confidence, 1 - 2 * share_of_signs(n, out), 1e-12);
	g_assert_cmpfloat_with_epsilon(
		change.middle, (means[(n_means - 1) / 2] + means[n_means / 2]) / 2, 1e-12);
}

static void test_naive(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(4);

	for (unsigned n = 1; n <= 10; n++)
		for (unsigned round = 0; round < 20; round++) {
			double differences[10];
			for (unsigned i = 0; i < n; i++)
				differences[i] = floor(g_rand_double_range(random, -5, 20));
			check_naively(differences, n, 0.95);
			check_naively(differences, n, 0.5);
			check_naively(differences, n, 1);
		}
}

/* Of the book's table: n = 7 has 95.3 %, n = 6 96.9 %, n = 5 no more than 93.75 %. */
static void test_confidence(void)
{
	const double differences[] = {1, 2, 3, 4, 5, 6, 7};

	g_assert_cmpfloat_with_epsilon(
		lode_paired_change(differences, 7, 0.95).confidence, 1 - 2 * 3.0 / 128, 1e-12);
	g_assert_cmpfloat_with_epsilon(
		lode_paired_change(differences, 6, 0.95).confidence, 1 - 2.0 / 64, 1e-12);
	g_assert_cmpfloat_with_epsilon(
		lode_paired_change(differences, 5, 0.95).confidence, 1 - 2.0 / 32, 1e-12);
}

/* The interval has the true difference as often as it says, also with some wild runs among them. */
static void test_coverage(void)
{
	enum { ROUNDS = 4000, N = 9 };
	g_autoptr(GRand) random = g_rand_new_with_seed(17);
	unsigned n_right = 0;
	double confidence = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		double differences[N];
		for (unsigned i = 0; i < N; i++) {
			double width = g_rand_int_range(random, 0, 10) == 0 ? 100 : 1;
			differences[i] = 3 + g_rand_double_range(random, -width, width);
		}
		LodePairedChange change = lode_paired_change(differences, N, 0.95);
		n_right += change.low <= 3 && 3 <= change.high;
		confidence = change.confidence;
	}
	g_assert_cmpfloat(n_right / (double)ROUNDS, >, confidence - 0.015);
	g_assert_cmpfloat(n_right / (double)ROUNDS, <, confidence + 0.015);
}

static void test_many(void)
{
	double differences[LODE_PAIRED_MAX];

	for (int i = 0; i < LODE_PAIRED_MAX; i++)
		differences[i] = i % 2 == 0 ? 1 : -1;
	LodePairedChange change = lode_paired_change(differences, LODE_PAIRED_MAX, 0.95);
	g_assert_cmpfloat(change.middle, ==, 0);
	g_assert_false(lode_paired_change_is_told(&change));
	g_assert_cmpfloat_with_epsilon(change.confidence, 0.95, 0.002);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/paired_change/naive", test_naive);
	g_test_add_func("/paired_change/confidence", test_confidence);
	g_test_add_func("/paired_change/coverage", test_coverage);
	g_test_add_func("/paired_change/many", test_many);
	return g_test_run();
}
