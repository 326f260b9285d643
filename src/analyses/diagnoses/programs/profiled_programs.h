/* SPDX-License-Identifier: MIT */
/*
 * The programs of a profile, by its samples, and which of them are not their user's:
 *
 *   samples ─ process ─▶ program ─▶ image, "/usr/bin/grep"
 *           └ frames ──▶ any that is not of the system's packages: the user's
 *
 * Which program code is executed by is known by the samples there: of libraries, each program has
 * its own. A program is its user's if any of its samples is in code, or was called from code, that
 * is not of the system's packages.
 * Private to analyses/diagnoses/programs/.
 */
#pragma once

#include "analyses/diagnoses/diagnosis_context.h"

typedef struct {
	const char *name;   /* of its processes; borrowed */
	const char *image;  /* the path of the program; NULL: not known. Borrowed */
	double weight, own; /* of its samples; own: in the user's code */
	bool is_foreign;
} LodeProfiledProgram;

typedef struct {
	const LodeProfile *profile;
	uint32_t event;       /* of the samples */
	GArray *programs;     /* LodeProfiledProgram, by weight, falling */
	uint32_t *program_of; /* of each of the stacks' threads */
	bool *is_own;         /* each of the stacks has a frame of the user's */
	bool are_several;     /* programs that had 1 % of the running time or more */
} LodeProfiledPrograms;

/* NULL: there are no samples with threads. The profile is borrowed. */
LodeProfiledPrograms *lode_profiled_programs_new(const LodeDiagnosisContext *context);
void lode_profiled_programs_free(LodeProfiledPrograms *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProfiledPrograms, lode_profiled_programs_free)

static inline const LodeProfiledProgram *lode_profiled_programs_at(
	const LodeProfiledPrograms *self, guint program)
{
	return &g_array_index(self->programs, LodeProfiledProgram, program);
}

/* That of a thread of the stacks. */
static inline const LodeProfiledProgram *lode_profiled_programs_of(
	const LodeProfiledPrograms *self, uint32_t thread)
{
	return lode_profiled_programs_at(self, self->program_of[thread]);
}
