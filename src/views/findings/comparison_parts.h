/* SPDX-License-Identifier: MIT */
/* The parts of a comparison that have more than one form. Private to views/. */
#pragma once

#include "analyses/compare/comparison.h"
#include "base/text/json_stream.h"
#include "views/findings/comparison.h"

/* The first line of a comparison: how far the two profiles may be compared, and the times of the
 * programs. */

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

/*
 * The diagnoses of two profiles side by side, of a comparison:
 *
 *   Gone: divisions in hash_step (hash.c:41), 1.24 s; promised 44–97 %, achieved 70 %.
 */

/* A line for each that changed, up to the limit; with `is_all` for those that did not, too. */
void lode_comparison_diagnoses_write(
	const LodeComparedDiagnoses *self, const LodeComparisonViewOptions *options, FILE *out);

/* The member "diagnoses" of an object, with all of them. */
void lode_comparison_diagnoses_json(const LodeComparedDiagnoses *self,
	const LodeComparison *comparison, const LodeProfile *const profiles[2],
	const LodeComparisonViewOptions *options, LodeJsonStream *json);

/* Writes a line "slower: diagnosis division@f: 0 → 1.2 s" for each that is slower by more than the
 * options' `fail_above`. Gives how many there are. */
unsigned lode_comparison_diagnoses_write_slower(const LodeComparedDiagnoses *self,
	const LodeComparison *comparison, const LodeComparisonViewOptions *options, FILE *out);
