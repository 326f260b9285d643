/* SPDX-License-Identifier: MIT */
/*
 * Evidence for diagnoses of code, each with a figure of this program, and what is left of a loop's
 * time without a cause. Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/costed_code.h"

/*
 * The share of a loop's time that stays when a cause is gone: the highest of the other bounds,
 * where the time of an iteration is known, or the recurrence stands for it; else 0.
 */
double lode_rest_of_loop(const LodeCostedCode *code, const LodeLoop *loop, const char *cause);

/* Whether a recurrence or the divider alone makes the iterations of a loop as long as they are, so
 * that all of the loop's time goes with it, wherever samples show it. */
bool lode_is_limit_of_loop(const LodeCostedCode *code, const LodeLoop *loop, const char *cause);

/* Adds what is known: `weight` of its places, and `base`, what as many other instructions around
 * them have. */
void lode_place_evidence_add(
	LodeDiagnosis *self, const LodeCostedCode *code, double weight, double base);

/* The word for what the event weighs: "time", "cycles", else the event's name, borrowed. */
const char *lode_diagnosis_weight(const LodeDiagnosisContext *context);
