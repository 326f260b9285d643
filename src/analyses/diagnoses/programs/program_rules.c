/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/programs/program_rules.h"

#include <math.h>
#include <stddef.h>

static const char builtin_rules[] =
#include "analyses/diagnoses/programs/programs_ini.h"
	;

#define LEAST_SHARE 0.1

#define GLOBS(member) offsetof(LodeProgramRule, member), LODE_RULE_KEY_GLOBS
#define TEXT(member)                                                                               \
	offsetof(LodeProgramRule, member), LODE_RULE_KEY_TEXT, .is_needed = true, .is_lent = true
#define PART(member)                                                                               \
	offsetof(LodeProgramRule, member), LODE_RULE_KEY_NUMBER, .is_needed = true, .most = 1

static const LodeRuleKey keys[] = {
	{"programs", GLOBS(programs), .is_needed = true},
	{"maps", GLOBS(maps)},
	{"functions", GLOBS(functions)},
	{"words", GLOBS(words)},
	{"without", GLOBS(without)},
	{"least", offsetof(LodeProgramRule, least), LODE_RULE_KEY_NUMBER, .most = 1},
	{"cause", TEXT(cause)},
	{"title", TEXT(title)},
	{"explanation", TEXT(explanation)},
	{"remedy", TEXT(remedy)},
	{"source", TEXT(source)},
	{"saves-least", PART(saves_least)},
	{"saves-most", PART(saves_most)},
	{"same-as", offsetof(LodeProgramRule, same_as), LODE_RULE_KEY_BASE},
};
static const LodeRuleForm form = {
	"programs.ini", sizeof(LodeProgramRule), keys, G_N_ELEMENTS(keys)};

struct LodeProgramRules {
	LodeRuleFile *rows; /* LodeProgramRule */
};

LodeProgramRules *lode_program_rules_parse(const char *text, GError **error)
{
	g_autoptr(LodeProgramRules) self = g_new0(LodeProgramRules, 1);

	self->rows = lode_rule_file_read(&form, text, error);
	if (self->rows == NULL)
		return NULL;
	for (guint i = 0; i < self->rows->n; i++) {
		LodeProgramRule *rule = lode_rule_file_at(self->rows, i);
		rule->least = !isnan(rule->least) ? rule->least : LEAST_SHARE;
		if (rule->saves_least > rule->saves_most) {
			lode_rule_file_fail(
				self->rows, rule, "saves-least", "less than saves-most", error);
			return NULL;
		}
	}
	return g_steal_pointer(&self);
}

LodeProgramRules *lode_program_rules_new(void)
{
	g_autoptr(GError) error = NULL;
	LodeProgramRules *self = lode_program_rules_parse(builtin_rules, &error);

	g_assert_no_error(error);
	return self;
}

void lode_program_rules_free(LodeProgramRules *self)
{
	if (self == NULL)
		return;
	lode_rule_file_free(self->rows);
	g_free(self);
}

guint lode_program_rules_n(const LodeProgramRules *self)
{
	return self->rows->n;
}

const LodeProgramRule *lode_program_rules_at(const LodeProgramRules *self, guint index)
{
	return lode_rule_file_at(self->rows, index);
}
