/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/rules/service_rules.h"

#include <math.h>
#include <stddef.h>

static const char builtin_rules[] =
#include "analyses/diagnoses/services_ini.h"
	;

#define LEAST_SHARE 0.02

enum { MATCH_FUNCTIONS, MATCH_IMAGES, MATCH_FAMILY, MATCH_FILES, N_MATCHES };

typedef struct {
	LodeServiceRule rule;
	LodeGlobs *globs[N_MATCHES]; /* NULL: any */
	LodeGlobs *walks;
} Row;

#define GLOBS(index) offsetof(Row, globs) + (index) * sizeof(LodeGlobs *), LODE_RULE_KEY_GLOBS
#define TEXT(member) offsetof(Row, rule.member), LODE_RULE_KEY_TEXT, .is_lent = true
#define PART(member) offsetof(Row, rule.member), LODE_RULE_KEY_NUMBER, .is_lent = true, .most = 1

static const LodeRuleKey keys[] = {
	{"functions", GLOBS(MATCH_FUNCTIONS)},
	{"images", GLOBS(MATCH_IMAGES)},
	{"family", GLOBS(MATCH_FAMILY)},
	{"files", GLOBS(MATCH_FILES)},
	{"where", offsetof(Row, rule.where), LODE_RULE_KEY_GLOBS},
	{"walks", offsetof(Row, walks), LODE_RULE_KEY_GLOBS},
	{"cause", TEXT(cause)},
	{"title", TEXT(title)},
	{"service", TEXT(service)},
	{"explanation", TEXT(explanation)},
	{"remedy", TEXT(remedy)},
	{"source", TEXT(source)},
	{"enters", TEXT(enters)},
	{"factor", PART(factor)},
	{"least", PART(least)},
	{"most", PART(most)},
	{"in-scripts", PART(in_scripts)},
	{"alone", PART(alone)},
	{"part-of", offsetof(Row, rule.whole), LODE_RULE_KEY_BASE},
	{"rest", offsetof(Row, rule.rest), LODE_RULE_KEY_OTHER},
	{"repeated", offsetof(Row, rule.repeated), LODE_RULE_KEY_OTHER},
	{"chains", offsetof(Row, rule.chains), LODE_RULE_KEY_OTHER},
	{"inside", offsetof(Row, rule.inside), LODE_RULE_KEY_OTHER},
	{"unseen", offsetof(Row, rule.unseen), LODE_RULE_KEY_OTHER},
	{"makers", offsetof(Row, rule.makers), LODE_RULE_KEY_OTHER},
	{"copies", offsetof(Row, rule.copies), LODE_RULE_KEY_OTHER},
	{"often", offsetof(Row, rule.often), LODE_RULE_KEY_OTHER},
	{"with", offsetof(Row, rule.with), LODE_RULE_KEY_OTHER},
	{"keys", offsetof(Row, rule.keys), LODE_RULE_KEY_OTHER},
};
static const LodeRuleForm form = {"services.ini", sizeof(Row), keys, G_N_ELEMENTS(keys)};

struct LodeServiceRules {
	LodeRuleFile *rows; /* Row */
};

/* Whether it says what it matches. */
static bool has_globs(const Row *row)
{
	bool has = false;

	for (unsigned i = 0; i < N_MATCHES; i++)
		has |= row->globs[i] != NULL;
	return has;
}

/* Whether another one names it, so that it need match no function by itself. */
static bool is_named(const LodeServiceRules *self, const LodeServiceRule *rule)
{
	bool is_named = false;

	for (guint i = 0; i < self->rows->n; i++) {
		const LodeServiceRule *other = lode_service_rules_at(self, i);
		is_named |= other->repeated == rule || other->chains == rule ||
		            other->inside == rule || other->unseen == rule ||
		            other->makers == rule || other->copies == rule || other->keys == rule ||
		            other->often == rule;
	}
	return is_named;
}

static bool complete_row(
	const LodeServiceRules *self, Row *row, const LodeFamilies *families, GError **error)
{
	LodeServiceRule *rule = &row->rule;

	lode_families_add_names(families, rule->name, &row->globs[MATCH_FUNCTIONS]);
	if (!has_globs(row) && !is_named(self, rule))
		return lode_rule_file_fail(
			self->rows, rule, "functions", "patterns, separated by ';'", error);
	if (rule->whole != NULL && rule->whole->whole != NULL && rule->whole->whole != rule->whole)
		return lode_rule_file_fail(
			self->rows, rule, "part-of", "a group that is no part itself", error);
	if (rule->cause != NULL && (rule->explanation == NULL || rule->remedy == NULL))
		return lode_rule_file_fail(self->rows, rule,
			rule->explanation == NULL ? "explanation" : "remedy", "a text", error);
	rule->whole = rule->whole != NULL ? rule->whole : rule;
	rule->factor = !isnan(rule->factor) ? rule->factor : 1;
	rule->most = !isnan(rule->most) ? rule->most : 1;
	rule->in_scripts = !isnan(rule->in_scripts) ? rule->in_scripts : 1;
	rule->alone = !isnan(rule->alone) ? rule->alone : 0;
	rule->least = !isnan(rule->least) ? rule->least : LEAST_SHARE;
	return true;
}

LodeServiceRules *lode_service_rules_parse(
	const char *text, const LodeFamilies *families, GError **error)
{
	g_autoptr(LodeServiceRules) self = g_new0(LodeServiceRules, 1);

	self->rows = lode_rule_file_read(&form, text, error);
	if (self->rows == NULL)
		return NULL;
	for (guint i = 0; i < self->rows->n; i++)
		if (!complete_row(self, lode_rule_file_at(self->rows, i), families, error))
			return NULL;
	return g_steal_pointer(&self);
}

LodeServiceRules *lode_service_rules_new(const LodeFamilies *families)
{
	g_autoptr(GError) error = NULL;
	LodeServiceRules *self = lode_service_rules_parse(builtin_rules, families, &error);

	g_assert_no_error(error);
	return self;
}

void lode_service_rules_free(LodeServiceRules *self)
{
	if (self == NULL)
		return;
	lode_rule_file_free(self->rows);
	g_free(self);
}

guint lode_service_rules_n(const LodeServiceRules *self)
{
	return self->rows->n;
}

const LodeServiceRule *lode_service_rules_at(const LodeServiceRules *self, guint index)
{
	return &((const Row *)lode_rule_file_at(self->rows, index))->rule;
}

static bool matches(const LodeGlobs *globs, const char *text)
{
	return globs == NULL || (text != NULL && lode_globs_match(globs, text));
}

const LodeServiceRule *lode_service_rules_find(const LodeServiceRules *self, const char *function,
	const char *image, const char *family, const char *file)
{
	for (guint i = 0; i < self->rows->n; i++) {
		const Row *row = lode_rule_file_at(self->rows, i);
		if (has_globs(row) && matches(row->globs[MATCH_FAMILY], family) &&
			matches(row->globs[MATCH_FILES], file) &&
			matches(row->globs[MATCH_IMAGES], image) &&
			matches(row->globs[MATCH_FUNCTIONS], function))
			return &row->rule;
	}
	return NULL;
}

bool lode_service_rules_walk(
	const LodeServiceRules *self, const LodeServiceRule *rule, const char *function)
{
	for (guint i = 0; i < self->rows->n; i++) {
		const Row *row = lode_rule_file_at(self->rows, i);
		if (&row->rule == rule)
			return row->walks != NULL && lode_globs_match(row->walks, function);
	}
	return false;
}
