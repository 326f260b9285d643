/* SPDX-License-Identifier: MIT */
/*
 * The diagnoses of two profiles side by side, of a comparison:
 *
 *   Gone: divisions in hash_step (hash.c:41), 1.24 s; promised 44–97 %, achieved 70 %.
 *
 * Private to views/findings/.
 */
#pragma once

#include "views/findings/comparison.h"

#include "base/text/json_stream.h"

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
