/* SPDX-License-Identifier: MIT */
/*
 * The diagnoses of two profiles side by side: which are gone, new or changed, and what removing
 * those of the base was to save, beside what was saved.
 */
#pragma once

#include "analyses/compare/comparison.h"
#include "analyses/diagnoses/diagnoses.h"

typedef struct {
	/* NULL: not in this profile; the time is known all the same where all of the kernel's is
	 * meant. */
	const LodeDiagnosis *sides[2];
	LodeMatch match;         /* RENAMED: of the same cause, with another scope */
	LodeEstimate seconds[2]; /* processor time at its places; or weight, see unit */
	LodeEstimate change;     /* of them */
	/* Share of the base's processor time, where the base has it and the change is told; else
	 * NAN. All that was saved, if it is the only one gone and had most of it; else of its
	 * own time, at most what was saved in all. */
	double achieved;
	bool is_told; /* the change is significant */
} LodeComparedDiagnosis;

typedef struct LodeComparedDiagnoses {
	GArray *rows;      /* LodeComparedDiagnosis, by absolute change, falling */
	double deviations; /* standard errors that a change must exceed, for so many rows */
	/* NULL: seconds. Where the processor time of one is not known, as of perf's recordings,
	 * times and shares are of the weight, and this is its name, if it is no clock; borrowed
	 * from the comparison. */
	const char *unit;
} LodeComparedDiagnoses;

/*
 * Matches them by name, that is by cause and scope; those left by cause, where the functions' names
 * differ in types only or one has several functions. A change is told only where the comparison
 * tells one of its function, or for one of several functions of the processor time, a function or a
 * finding, in the same direction, or where pages are used in another way: places of code that did
 * not change may have another cause by chance.
 * Borrows `diagnoses`; the caller frees the result.
 */
LodeComparedDiagnoses *lode_compared_diagnoses_new(
	const LodeDiagnoses *const diagnoses[2], const LodeComparison *comparison);
void lode_compared_diagnoses_free(LodeComparedDiagnoses *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeComparedDiagnoses, lode_compared_diagnoses_free)

static inline const LodeComparedDiagnosis *lode_compared_diagnosis(
	const LodeComparedDiagnoses *self, guint index)
{
	return &g_array_index(self->rows, LodeComparedDiagnosis, index);
}

/* Whether it costs more than 1 + `share` times what it did, beyond three standard errors and the
 * machine's speed, and its function, or else the whole program, does so, too: one cause in place of
 * another that cost more is no loss. */
bool lode_compared_diagnosis_is_slower(const LodeComparedDiagnoses *self, guint index,
	const LodeComparison *comparison, double share);
