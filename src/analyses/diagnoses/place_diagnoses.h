/* SPDX-License-Identifier: MIT */
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
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"
#include "analyses/diagnoses/rules/cause_rules.h"

/* Adds them, in any order. */
void lode_place_diagnoses_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules);
