/* SPDX-License-Identifier: MIT */
#include "analyses/compare/paired_change.h"

#include "base/arrays/sort_order.h"

#include <glib.h>
#include <math.h>

/* The means of all two differences, each with itself too, in rising order. */
static GArray *means_of(const double *differences, size_t n)
{
	GArray *means = g_array_new(FALSE, FALSE, sizeof(double));

	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n; k++) {
			double mean = (differences[i] + differences[k]) / 2;
			g_array_append_val(means, mean);
		}
	g_array_sort(means, lode_compare_doubles);
	return means;
}

/*
 * How many means to leave out at each end: the most for which the sum of the positive ranks, of n
 * signs by chance, is smaller with at most half of 1 − confidence. *out_outside: that probability.
 * The number of sets of ranks with a sum is counted by adding one rank after the other.
 */
static size_t left_out(size_t n, double confidence, double *out_outside)
{
	size_t most = n * (n + 1) / 2, sum = 0;
	g_autofree double *shares = g_new0(double, most + 1);
	double below = 0;

	shares[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t at = most + 1; at-- > 0;)
			shares[at] = (shares[at] + (at >= rank ? shares[at - rank] : 0)) / 2;
	while (sum <= most / 2 && below + shares[sum] <= (1 - confidence) / 2)
		below += shares[sum++];
	/* At the least the ends themselves. */
	*out_outside = sum > 0 ? below : shares[0];
	return sum > 0 ? sum - 1 : 0;
}

LodePairedChange lode_paired_change(const double *differences, size_t n, double confidence)
{
	g_autoptr(GArray) means = means_of(differences, n);
	double outside;
	size_t out = left_out(n, confidence, &outside);

	return (LodePairedChange){
		.middle = lode_median((double *)(void *)means->data, means->len),
		.low = g_array_index(means, double, out),
		.high = g_array_index(means, double, means->len - 1 - out),
		.confidence = 1 - 2 * outside,
	};
}
