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

static double expected_at(const LodeMixture *self, size_t component, size_t sequence)
{
	return component < self->n_components
	               ? self->expected[component * self->n_sequences + sequence]
	               : self->unknown;
}

double lode_mixture_part(
	const LodeMixture *self, const double *shares, size_t component, size_t sequence)
{
	double sum = mixture_at(self, shares, sequence);

	if (!(sum > 0))
		return component == self->n_components;
	return shares[component] * expected_at(self, component, sequence) / sum;
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

/* Solves matrix·x = right for all `n_right` columns, in place, by Gauss and Jordan with pivots on
 * the diagonal: the matrix is symmetric and positive. */
static void solve(double *matrix, size_t n, double *right, size_t n_right)
{
	for (size_t k = 0; k < n; k++) {
		double pivot = matrix[k * n + k];
		for (size_t i = 0; i < n; i++) {
			double factor = i != k ? matrix[i * n + k] / pivot : 0;
			if (factor == 0)
				continue;
			for (size_t j = k; j < n; j++)
				matrix[i * n + j] -= factor * matrix[k * n + j];
			for (size_t j = 0; j < n_right; j++)
				right[i * n_right + j] -= factor * right[k * n_right + j];
		}
	}
	for (size_t k = 0; k < n; k++)
		for (size_t j = 0; j < n_right; j++)
			right[k * n_right + j] /= matrix[k * n + k];
}

void lode_mixture_influence(const LodeMixture *self, const bool *is_fitted, const double *shares,
	double *out, double *out_inverse)
{
	size_t n = self->n_sequences, n_all = self->n_components + 1, n_rows = 0;
	g_autofree size_t *components = g_new(size_t, n_all);

	memset(out, 0, sizeof(double) * n_all * n);
	memset(out_inverse, 0, sizeof(double) * n_all * n_all);
	for (size_t j = 0; j < n_all; j++)
		if (j < self->n_components ? is_fitted[j] : shares[j] > 1e-9)
			components[n_rows++] = j;
	/* To the right of the scores the identity, which becomes the inverse. */
	size_t width = n + n_rows;
	g_autofree double *scores = g_new0(double, n_rows *width + 1);
	g_autofree double *matrix = g_new0(double, n_rows *n_rows + 1);
	for (size_t s = 0; s < n; s++) {
		double mixture = mixture_at(self, shares, s);
		for (size_t k = 0; k < n_rows && mixture > 0; k++)
			scores[k * width + s] = expected_at(self, components[k], s) / mixture;
		for (size_t i = 0; i < n_rows; i++)
			for (size_t k = 0; k < n_rows; k++)
				matrix[i * n_rows + k] += self->observed[s] *
				                          scores[i * width + s] *
				                          scores[k * width + s];
	}
	/* A little more on the diagonal keeps equal components apart from a division by 0. */
	for (size_t i = 0; i < n_rows; i++) {
		matrix[i * n_rows + i] = matrix[i * n_rows + i] * (1 + 1e-9) + 1e-12;
		scores[i * width + n + i] = 1;
	}
	solve(matrix, n_rows, scores, width);
	for (size_t k = 0; k < n_rows; k++) {
		memcpy(out + components[k] * n, scores + k * width, sizeof(double) * n);
		for (size_t i = 0; i < n_rows; i++)
			out_inverse[components[k] * n_all + components[i]] =
				scores[k * width + n + i];
	}
}
