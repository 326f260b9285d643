/* SPDX-License-Identifier: MIT */
/*
 * The change of a figure between two versions of a program that ran by turns, from the difference
 * within each pair of runs: what drifts slowly, as the speed of a shared machine, is in both.
 *
 *   pairs   (10.1, 9.2) (10.4, 9.4) (9.9, 9.1) …  ─▶  −0.9 (−1.0 to −0.8), confidence 98.4 %
 *
 * The estimate is that of J. Hodges and E. Lehmann (the median of the means of all two
 * differences), the interval that of the signed-rank test of F. Wilcoxon, as in M. Hollander and
 * D. Wolfe, Nonparametric Statistical Methods, 3.2 and 3.3: they assume that differences scatter
 * symmetrically, and nothing of how far, so that one odd run does little.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { LODE_PAIRED_MAX = 200 }; /* pairs */

typedef struct {
	double middle, low, high;
	double confidence; /* of the interval, at least the one asked for if so many pairs allow it
	                    */
} LodePairedChange;

/* Of `n` differences, from 1 to LODE_PAIRED_MAX; `confidence` in (0, 1), 1: the widest interval,
 * from the least difference to the largest. */
LodePairedChange lode_paired_change(const double *differences, size_t n, double confidence);

/* Whether the interval is on one side of 0. */
static inline bool lode_paired_change_is_told(const LodePairedChange *self)
{
	return self->low > 0 || self->high < 0;
}
