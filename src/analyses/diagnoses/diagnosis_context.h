/* SPDX-License-Identifier: MIT */
/*
 * The sources of diagnoses: a profile, its findings, and the costs of its functions and services.
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "analyses/calls/services.h"
#include "analyses/diagnoses/diagnoses.h"
#include "model/lines/own_lines.h"

typedef struct LodeFindings LodeFindings;

/* Everything is borrowed. */
typedef struct {
	const LodeProfile *profile;
	const LodeFindings *findings; /* NULL: none */
	uint32_t event;               /* that weighs */
	double total;                 /* of it */
	double user;                  /* as LodeDiagnoses.user */
	const LodeOwnLines *own;
	const LodeFunctionCosts *costs;
	const LodeFamilies *families;
	const uint32_t *family_of; /* of each of the costs' functions, or LODE_NONE */
	const LodeServices *services;
} LodeDiagnosisContext;

/* Adds those of the time in the kernel, by what entered it and from which line of the user's. Those
 * of the code, of the same cause and at the system calls themselves, are part of them, and
 * removed. */
void lode_kernel_diagnoses_add(LodeDiagnoses *out, const LodeDiagnosisContext *context);

/* Adds what the way costs in which programs of the system are called, that have much of the time.
 */
void lode_program_diagnoses_add(LodeDiagnoses *out, const LodeDiagnosisContext *context);

/* The names of the programs that its user does not build (const char *, the profile's); a program
 * is one of them only where enough is known of it. The caller unrefs the set. */
GHashTable *lode_foreign_program_names(const LodeDiagnosisContext *context);

/*
 * Sets those aside that are inside programs that its user does not build, such as compilers, shells
 * and grep, and says how much of the time is inside them: what the user can change is how many are
 * started, when, and with which options. Of a program alone those stay that the kernel's calls, or
 * waiting for what is outside of it, have.
 */
void lode_foreign_diagnoses_set_aside(LodeDiagnoses *self, const LodeDiagnosisContext *context);
