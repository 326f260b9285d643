/* SPDX-License-Identifier: MIT */
/*
 * Explanations of patterns: what a pattern usually means, what people do about it, and where that
 * is written. The rules and texts are in explanations.ini, which says how a rule is written.
 */
#pragma once

#include "model/findings.h"
#include "model/profile.h"

typedef struct {
	const char *rule; /* its name */
	const char *explanation, *remedy, *source;
} LodeExplanation;

typedef struct LodeExplanations LodeExplanations;

/* The rules that are compiled in; never NULL. */
LodeExplanations *lode_explanations_new(void);

/* Rules from text in the form of explanations.ini. Errors: _CORRUPT, which names the rule. */
LodeExplanations *lode_explanations_parse(const char *text, GError **error);

void lode_explanations_free(LodeExplanations *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeExplanations, lode_explanations_free)

size_t lode_explanations_n(const LodeExplanations *self);
const LodeExplanation *lode_explanations_at(const LodeExplanations *self, size_t index);

/*
 * The explanation by the first rule that matches, NULL where nothing is known; valid as long as
 * `self`. A finding shows no attribute that another one implies: so the focus also counts as having
 * what all of its places in `profile` have in common, except events, which happen at 1 % of the
 * executions already. `profile` may be NULL.
 */
const LodeExplanation *lode_explanations_find(const LodeExplanations *self,
	const LodeProfile *profile, const LodeFindings *findings, const LodeFinding *finding);
