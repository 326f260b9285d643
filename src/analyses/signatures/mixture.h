/* SPDX-License-Identifier: MIT */
/*
 * The shares of a mixture of multinomials with known components, by maximum likelihood: how much of
 * each known distribution makes up an observed one.
 *
 *   maximise  Σs observed(s)·log( Σj share(j)·expected(j, s) + share(rest)·unknown ),  shares ≥ 0,
 * Σ 1
 *
 * It is concave in the shares, so that EM (A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum
 * Likelihood from Incomplete Data via the EM Algorithm", 1977) converges to the maximum from
 * anywhere inside: share(j) ← Σs observed(s)·share(j)·expected(j, s)/mixture(s). It needs no step
 * size and no active set, and the parts in the sum say which component each sequence belongs to,
 * which least squares (Lawson and Hanson) do not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	size_t n_sequences, n_components;
	const double *observed; /* [n_sequences]: sums to 1 */
	const double *expected; /* [n_components][n_sequences]: each sums to 1 at most */
	double unknown;         /* what the rest gives to any sequence; > 0 */
} LodeMixture;

/*
 * `shares` [n_components + 1], the last of the rest; they sum to 1. `may_have` [n_components] says
 * which may be above 0; NULL: all. Ends when no share changes by `tolerance` in a round, or after
 * 5,000 rounds.
 */
void lode_mixture_fit(
	const LodeMixture *self, const bool *may_have, double tolerance, double *out_shares);

/* Which part of a sequence is of a component, with these shares; of the rest: n_components. They
 * sum to 1. */
double lode_mixture_part(
	const LodeMixture *self, const double *shares, size_t component, size_t sequence);

/*
 * The influence function of the shares (F. R. Hampel, "The Influence Curve and Its Role in Robust
 * Estimation", 1974): by how much a share grows per unit that observed(s) grows, H⁻¹·expected(·,
 * s)/mixture(s) with H = Σs observed(s)·expected(i, s)·expected(j, s)/mixture(s)². `is_fitted`
 * [n_components] says for which components, besides the rest; other rows are 0. To `out`
 * [n_components + 1][n_sequences], and H⁻¹ to `out_inverse` [n_components + 1][n_components + 1]:
 * the variance of a share by n samples is (H⁻¹(j, j) − share²)/n. Where components are alike, H is
 * nearly singular, and its inverse large: their shares cannot be told apart.
 */
void lode_mixture_influence(const LodeMixture *self, const bool *is_fitted, const double *shares,
	double *out, double *out_inverse);
