/* SPDX-License-Identifier: MIT */
/*
 *   causes.ini ──▶ rules ── words ── globs        first rule of which all words match
 *                                  all      any         an attribute of the element
 */
#include "analyses/diagnoses/rules/cause_rules.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/text/rule_file.h"
#include "base/text/words.h"
#include "model/code.h"
#include "model/findings.h"

#include <math.h>
#include <stddef.h>

static const char builtin_rules[] =
#include "analyses/diagnoses/causes_ini.h"
	;

/* The conditions of a rule on the charged instruction, and on one element before and after it; and
 * what the charged instruction must not have. */
enum { BEFORE, FOCUS, AFTER, WITHOUT, N_POSITIONS };
/* Those of most causes: bench/README.md has the pairs. */
static const double USUAL_LEAST = 0.6, USUAL_MOST = 1.5;

typedef struct Rule {
	LodeCauseRule public;
	const char *texts[N_POSITIONS];
	LodeCauseWords words[N_POSITIONS]; /* that must match */
	const struct Rule *same_as;
} Rule;

#define WORDS(position) offsetof(Rule, texts) + (position) * sizeof(char *), LODE_RULE_KEY_TEXT
#define TEXT(member) offsetof(Rule, public.member), LODE_RULE_KEY_TEXT
#define SHARE(member)                                                                              \
	offsetof(Rule, public.member), LODE_RULE_KEY_NUMBER, .is_lent = true, .most = 100

static const LodeRuleKey keys[] = {
	{"before", WORDS(BEFORE)},
	{"focus", WORDS(FOCUS)},
	{"after", WORDS(AFTER)},
	{"without", WORDS(WITHOUT)},
	{"cause", TEXT(cause)},
	{"title", TEXT(title)},
	{"explanation", TEXT(explanation), .is_needed = true, .is_lent = true},
	{"remedy", TEXT(remedy), .is_needed = true, .is_lent = true},
	{"source", TEXT(source), .is_needed = true, .is_lent = true},
	{"least", SHARE(least)},
	{"most", SHARE(most)},
	{"same-as", offsetof(Rule, same_as), LODE_RULE_KEY_BASE},
};
static const LodeRuleForm form = {"causes.ini", sizeof(Rule), keys, G_N_ELEMENTS(keys)};

struct LodeCauseRules {
	LodeRuleFile *rules; /* Rule */
	GPtrArray *words;    /* GPtrArray of GPatternSpec: one of which must match */
};

/* --- parsing --- */

static bool is_empty(const LodeCauseWords *words)
{
	for (size_t i = 0; i < G_N_ELEMENTS(words->bits); i++)
		if (words->bits[i] != 0)
			return false;
	return true;
}

static bool parse_words(LodeCauseRules *self, Rule *rule, int position, GError **error)
{
	g_auto(GStrv) parts = g_strsplit_set(rule->texts[position], " \t", -1);

	for (char **part = parts; *part != NULL; part++) {
		if (**part == '\0')
			continue;
		if (self->words->len == LODE_CAUSE_MAX_WORDS)
			return lode_rule_file_fail(
				self->rules, rule, *part, "fewer words in all rules", error);
		g_auto(GStrv) globs = g_strsplit(*part, "|", -1);
		GPtrArray *word = g_ptr_array_new_with_free_func(
			(GDestroyNotify)g_pattern_spec_free);
		for (char **glob = globs; *glob != NULL; glob++)
			g_ptr_array_add(word, g_pattern_spec_new(*glob));
		rule->words[position].bits[self->words->len / 64] |= LODE_BIT(
			self->words->len % 64);
		g_ptr_array_add(self->words, word);
	}
	return true;
}

static bool complete_rule(LodeCauseRules *self, Rule *rule, GError **error)
{
	LodeCauseRule *public = &rule->public;

	for (int i = 0; i < N_POSITIONS; i++)
		if (rule->texts[i] != NULL && !parse_words(self, rule, i, error))
			return false;
	if (rule->texts[BEFORE] == NULL && rule->texts[FOCUS] == NULL && rule->texts[AFTER] == NULL)
		return lode_rule_file_fail(self->rules, rule, "focus", "a text", error);
	for (const Rule *same = rule->same_as;
		same != NULL && public->cause != NULL && public->title == NULL;
		same = same->same_as)
	public->title = same->public.title;
	if (public->cause != NULL && public->title == NULL)
		return lode_rule_file_fail(self->rules, rule, "title", "a text", error);
	public->least = isnan(public->least) ? USUAL_LEAST : public->least;
	public->most = isnan(public->most) ? USUAL_MOST : public->most;
	return true;
}

LodeCauseRules *lode_cause_rules_parse(const char *text, GError **error)
{
	g_autoptr(LodeCauseRules) self = g_new0(LodeCauseRules, 1);

	self->rules = lode_rule_file_read(&form, text, error);
	self->words = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	if (self->rules == NULL)
		return NULL;
	for (guint i = 0; i < self->rules->n; i++)
		if (!complete_rule(self, lode_rule_file_at(self->rules, i), error))
			return NULL;
	return g_steal_pointer(&self);
}

LodeCauseRules *lode_cause_rules_new(void)
{
	g_autoptr(GError) error = NULL;
	LodeCauseRules *self = lode_cause_rules_parse(builtin_rules, &error);

	g_assert_no_error(error);
	return self;
}

void lode_cause_rules_free(LodeCauseRules *self)
{
	if (self == NULL)
		return;
	lode_rule_file_free(self->rules);
	g_ptr_array_unref(self->words);
	g_free(self);
}

size_t lode_cause_rules_n(const LodeCauseRules *self)
{
	return self->rules->n;
}

const LodeCauseRule *lode_cause_rules_at(const LodeCauseRules *self, size_t index)
{
	const Rule *rule = lode_rule_file_at(self->rules, (guint)index);

	return &rule->public;
}

const LodeCauseRule *lode_cause_rules_named(const LodeCauseRules *self, const char *name)
{
	for (size_t i = 0; i < lode_cause_rules_n(self); i++)
		if (strcmp(lode_cause_rules_at(self, i)->name, name) == 0)
			return lode_cause_rules_at(self, i);
	return NULL;
}

/* --- matching --- */

void lode_cause_rules_add_words(
	const LodeCauseRules *self, const char *attribute, LodeCauseWords *out)
{
	for (guint i = 0; i < self->words->len; i++) {
		const GPtrArray *word = g_ptr_array_index(self->words, i);
		for (guint k = 0; k < word->len; k++)
			if (g_pattern_spec_match_string(g_ptr_array_index(word, k), attribute))
				out->bits[i / 64] |= LODE_BIT(i % 64);
	}
}

static bool has_words(const LodeCauseWords *self, const LodeCauseWords *needed)
{
	for (size_t i = 0; i < G_N_ELEMENTS(self->bits); i++)
		if ((needed->bits[i] & ~self->bits[i]) != 0)
			return false;
	return true;
}

static bool has_any(const LodeCauseWords *self, const LodeCauseWords *unwanted)
{
	for (size_t i = 0; i < G_N_ELEMENTS(self->bits); i++)
		if ((unwanted->bits[i] & self->bits[i]) != 0)
			return true;
	return false;
}

/* Whether one of the elements has all the words; true if there are no words. */
static bool any_has_words(const LodeCauseWords *elements, size_t n, const LodeCauseWords *needed)
{
	for (size_t i = 0; i < n; i++)
		if (has_words(&elements[i], needed))
			return true;
	return is_empty(needed);
}

const LodeCauseRule *lode_cause_rules_match(const LodeCauseRules *self, const LodeCauseWords *focus,
	const LodeCauseWords *before, size_t n_before, const LodeCauseWords *after, size_t n_after)
{
	for (guint i = 0; i < self->rules->n; i++) {
		const Rule *rule = lode_rule_file_at(self->rules, i);
		if (has_words(focus, &rule->words[FOCUS]) &&
			!has_any(focus, &rule->words[WITHOUT]) &&
			any_has_words(before, n_before, &rule->words[BEFORE]) &&
			any_has_words(after, n_after, &rule->words[AFTER]))
			return &rule->public;
	}
	return NULL;
}

static LodeCauseWords words_of(
	const LodeCauseRules *self, const LodeFindings *findings, const LodeFindingElement *element)
{
	LodeCauseWords words = {0};

	for (uint32_t i = 0; i < element->n_items; i++)
		lode_cause_rules_add_words(self,
			g_ptr_array_index(findings->attributes,
				g_array_index(findings->items, uint32_t, element->first_item + i)),
			&words);
	return words;
}

static uint32_t set_at(const LodeProfile *profile, const LodeFindings *findings, uint32_t place)
{
	uint32_t one = g_array_index(findings->places, LodeFindingPlace, place).instruction;

	return lode_profile_instruction(profile, one)->attribute_set;
}

/* Adds to the focus what all places have in common. */
static void add_common(const LodeCauseRules *self, const LodeProfile *profile,
	const LodeFindings *findings, const LodeFinding *finding, LodeCauseWords *focus)
{
	if (profile == NULL || finding->n_places == 0)
		return;
	uint32_t n;
	const uint32_t *members = lode_profile_set_members(
		profile, set_at(profile, findings, finding->first_place), &n);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = lode_profile_attribute_name(profile, members[i]);
		bool is_common = !g_str_has_prefix(name, "ev:");
		for (uint32_t p = 1; p < finding->n_places && is_common; p++)
			is_common = lode_profile_set_has(
				profile, set_at(profile, findings, finding->first_place + p), name);
		if (is_common)
			lode_cause_rules_add_words(self, name, focus);
	}
}

const LodeCauseRule *lode_cause_rules_find(const LodeCauseRules *self, const LodeProfile *profile,
	const LodeFindings *findings, const LodeFinding *finding)
{
	g_autofree LodeCauseWords *elements = g_new0(LodeCauseWords, finding->n_elements + 1);
	uint32_t focus = finding->focus;

	if (focus >= finding->n_elements)
		return NULL;
	for (uint32_t i = 0; i < finding->n_elements; i++)
		elements[i] = words_of(self, findings,
			&g_array_index(findings->elements, LodeFindingElement,
				finding->first_element + i));
	add_common(self, profile, findings, finding, &elements[focus]);
	return lode_cause_rules_match(self, &elements[focus], elements, focus, &elements[focus + 1],
		finding->n_elements - focus - 1);
}
