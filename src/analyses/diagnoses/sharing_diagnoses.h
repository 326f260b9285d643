/* SPDX-License-Identifier: MIT */
/*
 * A diagnosis of cache lines that threads share, from sampled data addresses
 * (analyses/memory/objects/line_sharing.h): falsely or truly. Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/diagnoses/diagnosis_context.h"

/* Adds one of each kind that has enough of the time; none without data addresses. */
void lode_sharing_diagnoses_add(LodeDiagnoses *out, const LodeDiagnosisContext *context);
