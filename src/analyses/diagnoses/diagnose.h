/* SPDX-License-Identifier: MIT */
/* From a profile to its diagnoses (analyses/diagnoses/diagnoses.h). */
#pragma once

#include "analyses/diagnoses/diagnoses.h"

typedef struct LodeFindings LodeFindings;

/*
 * The diagnoses of a profile, by what they may save. `findings` are those that they name; NULL:
 * none. `event` weighs; LODE_NONE: there are no diagnoses. `own`: see lode_own_lines_new().
 * Everything is borrowed for the call; the caller frees the result, which is never NULL.
 */
LodeDiagnoses *lode_diagnose(const LodeProfile *profile, const LodeFindings *findings,
	uint32_t event, const char *const *own);

/* The catalogue: the words of all causes, sorted, NULL-terminated. The caller frees them. */
char **lode_diagnose_causes(void);
