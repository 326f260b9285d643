/* SPDX-License-Identifier: MIT */
/*
 * Rules of programs of the system: what costs in the way they are called, and what their user does
 * about it. Rules and texts are in programs.ini, which says how a rule is written.
 * Private to analyses/diagnoses/.
 */
#pragma once

#include "base/text/rule_file.h"

typedef struct {
	const char *name;
	LodeGlobs *programs; /* never NULL */
	/* NULL: nothing is asked for */
	LodeGlobs *maps, *functions, *words, *without;
	double least; /* of the program's time, in the functions */
	const char *cause, *title, *explanation, *remedy, *source;
	double saves_least, saves_most; /* of the program's time */
	const void *same_as;
} LodeProgramRule;

typedef struct LodeProgramRules LodeProgramRules;

/* The rules that are compiled in; never NULL. */
LodeProgramRules *lode_program_rules_new(void);

/* From text in the form of programs.ini. Errors: _CORRUPT, which names the group. */
LodeProgramRules *lode_program_rules_parse(const char *text, GError **error);

void lode_program_rules_free(LodeProgramRules *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProgramRules, lode_program_rules_free)

guint lode_program_rules_n(const LodeProgramRules *self);
const LodeProgramRule *lode_program_rules_at(const LodeProgramRules *self, guint index);
