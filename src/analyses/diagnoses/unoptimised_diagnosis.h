/* SPDX-License-Identifier: MIT */
/*
 * The diagnosis of code that was compiled without optimisation, by its bytes: each statement loads
 * its variables from the frame and stores its result there, so that registers carry next to nothing
 * from one basic block to the next. Its places have causes of their own, too, which may well be
 * gone once the compiler optimises. Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"
#include "analyses/diagnoses/rules/cause_rules.h"

/* Adds it where such code, of files that are neither system libraries nor made at run time, has a
 * tenth of the time or more; its words are those of the rule with LODE_UNOPTIMISED. */
void lode_unoptimised_diagnosis_add(
	LodeDiagnoses *out, const LodeCostedCode *code, const LodeCauseRules *rules);

#define LODE_UNOPTIMISED "unoptimised"
