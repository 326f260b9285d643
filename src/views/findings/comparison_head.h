/* SPDX-License-Identifier: MIT */
/* The first line of a comparison: how far the two profiles may be compared, and the times of the
 * programs. Private to views/. */
#pragma once

#include "analyses/compare/comparison.h"

/* Seconds by the clock in which a thread of the program existed; NAN: not known. */
double lode_comparison_wall_seconds(const LodeProfile *profile);

/* Where the profiles are not of the same kind, a sentence for each difference, and a blank:
 * "Different machines: Zen 3 and Zen 5. " */
void lode_comparison_append_differences(
	const LodeProfile *const profiles[2], const LodeComparison *comparison, GString *out);

/* "Processor time 0.99 → 0.75 s, 0.76 ×: user 0.98 → 0.74, kernel 0.01 → 0.01; wall 1.02 → 0.77 s,
 * 0.75 ×; page faults 16,459 → 105."; page faults where their change is told; false: the profiles
 * do not have them, or are parts. */
bool lode_comparison_append_times(
	const LodeProfile *const profiles[2], const LodeComparison *comparison, GString *out);
