/* SPDX-License-Identifier: MIT */
/* Diagnoses of the program's code by its instructions and their costs.
 * Private to analyses/diagnoses/. */
#pragma once

#include "analyses/diagnoses/costed_code.h"
#include "analyses/diagnoses/diagnoses.h"
#include "analyses/diagnoses/rules/cause_rules.h"

/*
 * Diagnoses of the program's code by the attributes of its instructions. Each instruction goes to
 * the first rule that it matches (cause_rules.h); what the instructions of a cause take above the
 * other instructions around them is its time.
 *
 *   block:  add   1 ┐ of no cause: 1 on average
 *           mov   1 ┘
 *           div  20   division: 19
 *
 * Code of libraries' families is left out: it is diagnosed by what is called (service_diagnoses.h).
 *
 * Adds them, in any order.
 */
void lode_place_diagnoses_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules);

/*
 * Work of the user's own functions that is done again and again for the same arguments: by a loop
 * that calls one with arguments that it does not change, as for each of two nested loops' pairs, or
 * by a function that calls itself twice or more and keeps no results.
 */

void lode_repeated_calls_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules);

/*
 * The diagnosis of code that was compiled without optimisation, by its bytes: each statement loads
 * its variables from the frame and stores its result there, so that registers carry next to nothing
 * from one basic block to the next. Its places have causes of their own, too, which may well be
 * gone once the compiler optimises.
 *
 * Adds it where such code, of files that are neither system libraries nor made at run time, has a
 * tenth of the time or more; its words are those of the rule with LODE_UNOPTIMISED.
 */
void lode_unoptimised_diagnosis_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules);

#define LODE_UNOPTIMISED "unoptimised"
