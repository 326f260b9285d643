/* SPDX-License-Identifier: MIT */
/*
 * Rules from attributes to causes: what a pattern usually means, what people do about it, and where
 * that is written. Rules and texts are in causes.ini, which says how a rule is written.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
	const char *name;
	const char
		*cause; /* the catalogue's word; NULL: it explains findings, and is no diagnosis */
	const char *title; /* of the diagnosis; NULL likewise */
	const char *explanation, *remedy, *source;
	double least,
		most; /* what a remedy saves of the time at the places; least NAN: not known */
} LodeCauseRule;

typedef struct LodeCauseRules LodeCauseRules;
typedef struct LodeFinding LodeFinding;
typedef struct LodeFindings LodeFindings;
typedef struct LodeProfile LodeProfile;

/* The rules that are compiled in; never NULL. */
LodeCauseRules *lode_cause_rules_new(void);

/* Rules from text in the form of causes.ini. Errors: _CORRUPT, which names the rule. */
LodeCauseRules *lode_cause_rules_parse(const char *text, GError **error);

void lode_cause_rules_free(LodeCauseRules *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCauseRules, lode_cause_rules_free)

size_t lode_cause_rules_n(const LodeCauseRules *self);
const LodeCauseRule *lode_cause_rules_at(const LodeCauseRules *self, size_t index);

/* NULL: there is none of that name. */
const LodeCauseRule *lode_cause_rules_named(const LodeCauseRules *self, const char *name);

/* Which of the rules' words some attributes match. */
enum { LODE_CAUSE_MAX_WORDS = 512 };
typedef struct {
	uint64_t bits[LODE_CAUSE_MAX_WORDS / 64];
} LodeCauseWords;

/* The words that an attribute matches, added to out. */
void lode_cause_rules_add_words(
	const LodeCauseRules *self, const char *attribute, LodeCauseWords *out);

static inline void lode_cause_words_join(LodeCauseWords *self, const LodeCauseWords *other)
{
	for (size_t i = 0; i < G_N_ELEMENTS(self->bits); i++)
		self->bits[i] |= other->bits[i];
}

/*
 * The first rule whose words are all in those of the focus, and, of an element before and one after
 * it, in those of one of them; NULL: there is none.
 */
const LodeCauseRule *lode_cause_rules_match(const LodeCauseRules *self, const LodeCauseWords *focus,
	const LodeCauseWords *before, size_t n_before, const LodeCauseWords *after, size_t n_after);

/*
 * The rule of a finding, NULL where nothing is known. A finding shows no attribute that
 * another one implies: so the focus also counts as having what all of its places in `profile` have
 * in common, except events, which happen at 1 % of the executions already. `profile` may be NULL.
 */
const LodeCauseRule *lode_cause_rules_find(const LodeCauseRules *self, const LodeProfile *profile,
	const LodeFindings *findings, const LodeFinding *finding);
