/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/mixture.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MAX_ROUNDS = 5000 };

static double mixture_at(const LodeMixture *self, const double *shares, size_t sequence)
{
	double sum = shares[self->n_components] * self->unknown;

	for (size_t j = 0; j < self->n_components; j++)
		sum += shares[j] * self->expected[j * self->n_sequences + sequence];
	return sum;
}

double lode_mixture_rest(const LodeMixture *self, const double *shares, size_t sequence)
{
	double sum = mixture_at(self, shares, sequence);

	return sum > 0 ? shares[self->n_components] * self->unknown / sum : 1;
}

/* Σs observed/mixture·expected(j): by what each share grows in a round. Row by row, as the
 * components lie in memory. */
static void find_growth(
	const LodeMixture *self, const double *shares, double *quotients, double *out_growth)
{
	size_t n = self->n_sequences, n_components = self->n_components;

	for (size_t s = 0; s < n; s++)
		quotients[s] = shares[n_components] * self->unknown;
	for (size_t j = 0; j < n_components; j++)
		for (size_t s = 0; shares[j] > 0 && s < n; s++)
			quotients[s] += shares[j] * self->expected[j * n + s];
	out_growth[n_components] = 0;
	for (size_t s = 0; s < n; s++) {
		quotients[s] = quotients[s] > 0 ? self->observed[s] / quotients[s] : 0;
		out_growth[n_components] += quotients[s] * self->unknown;
	}
	for (size_t j = 0; j < n_components; j++) {
		out_growth[j] = 0;
		for (size_t s = 0; shares[j] > 0 && s < n; s++)
			out_growth[j] += quotients[s] * self->expected[j * n + s];
	}
}

void lode_mixture_fit(
	const LodeMixture *self, const bool *may_have, double tolerance, double *out_shares)
{
	size_t n = self->n_components;
	g_autofree double *quotients = g_new(double, self->n_sequences + 1);
	g_autofree double *growth = g_new(double, n + 1);
	size_t n_possible = 1;

	for (size_t j = 0; j < n; j++)
		n_possible += may_have == NULL || may_have[j];
	for (size_t j = 0; j <= n; j++)
		out_shares[j] = j == n || may_have == NULL || may_have[j] ? 1.0 / (double)n_possible
		                                                          : 0;
	for (unsigned round = 0; round < MAX_ROUNDS && n > 0; round++) {
		double sum = 0, change = 0;
		find_growth(self, out_shares, quotients, growth);
		for (size_t j = 0; j <= n; j++) {
			growth[j] *= out_shares[j];
			/* A share of next to nothing goes to 0, which it never reaches. */
			if (growth[j] < 1e-12)
				growth[j] = 0;
			sum += growth[j];
		}
		if (!(sum > 0))
			break;
		for (size_t j = 0; j <= n; j++) {
			double share = growth[j] / sum;
			change = MAX(change, fabs(share - out_shares[j]));
			out_shares[j] = share;
		}
		if (change < tolerance)
			break;
	}
}
