/* SPDX-License-Identifier: MIT */
/*
 * Work of the user's own functions that is done again and again for the same arguments: by a loop
 * that calls one with arguments that it does not change, as for each of two nested loops' pairs, or
 * by a function that calls itself twice or more and keeps no results.
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"
#include "analyses/diagnoses/diagnoses.h"
#include "analyses/diagnoses/rules/cause_rules.h"

void lode_repeated_calls_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules);
