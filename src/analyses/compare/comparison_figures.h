/* SPDX-License-Identifier: MIT */
/*
 * The figures of a comparison: values with their standard errors, whether a change is significant,
 * and the machine's speed.
 *
 * Private to analyses/compare/.
 */
#pragma once

#include "analyses/compare/comparison.h"

#include <math.h>

typedef struct LodeMachineSpeed LodeMachineSpeed;

/*
 * The number of standard errors that a change must exceed when n are compared, so that with no real
 * change any of them does as seldom as a single one exceeds two (Z. Šidák, "Rectangular Confidence
 * Regions for the Means of Multivariate Normal Distributions", 1967): 2 of one, 3.5 of 100, 4.0 of
 * 1,000.
 */
double lode_comparison_deviations(size_t n);

/* Divides a change of time into its parts, from both sides' `executed` and `each`; NAN where they
 * are not known. The change of code that never executed in one of them is one of executions alone.
 */
void lode_compared_row_divide(LodeComparedRow *row);

static const LodeEstimate lode_estimate_unknown = {(double)NAN, (double)NAN};

/* to − from; their errors are independent. */
LodeEstimate lode_estimate_difference(LodeEstimate from, LodeEstimate to);

/* Whether a change exceeds so many of its standard errors; where it was counted, the rounding of
 * figures as large as `scale`. False where the error is unknown. */
bool lode_estimate_exceeds(LodeEstimate change, double scale, double deviations);

/* The machine's speed from what both profiles know of it. `is_sampled`: their weights are; what was
 * counted does not depend on it. */
void lode_speed_find(const LodeMachineSpeed *const machines[2], bool is_sampled, LodeSpeed *out);

/*
 * Whether the change from `before` to `after` exceeds so many standard errors, and does so too when
 * the machine's speed is taken out of it. What that leaves unknown is the same for all rows, so
 * that it counts with two standard errors, however many are compared.
 */
bool lode_speed_is_exceeded(
	const LodeSpeed *speed, LodeEstimate before, LodeEstimate after, double deviations);
