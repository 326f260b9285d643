/* SPDX-License-Identifier: MIT */
/*
 *   causes.ini ──▶ rules ── words ── globs        first rule of which all words match
 *                                  all      any         an attribute of the element
 */
#include "analyses/diagnoses/rules/cause_rules.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/text/words.h"
#include "model/findings.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

static const char builtin_rules[] =
#include "analyses/diagnoses/causes_ini.h"
	;

/* The conditions of a rule on the charged instruction, and on one element before and after it; and
 * what the charged instruction must not have. */
enum { BEFORE, FOCUS, AFTER, WITHOUT, N_POSITIONS };
static const char *const position_keys[] = {
	[BEFORE] = "before", [FOCUS] = "focus", [AFTER] = "after", [WITHOUT] = "without"};

/* Texts that each rule has, and those of diagnoses alone. */
enum { EXPLANATION, REMEDY, SOURCE, N_NEEDED, CAUSE = N_NEEDED, TITLE, N_TEXTS };
static const char *const text_keys[] = {[EXPLANATION] = "explanation",
	[REMEDY] = "remedy",
	[SOURCE] = "source",
	[CAUSE] = "cause",
	[TITLE] = "title"};

enum { LEAST, MOST, N_SHARES };
static const char *const share_keys[] = {[LEAST] = "least", [MOST] = "most"};

/* Those of most causes: bench/README.md has the pairs. */
static const double USUAL_LEAST = 0.6, USUAL_MOST = 1.5;

static const char same_as_key[] = "same-as";

typedef struct {
	char *name;
	LodeCauseWords words[N_POSITIONS]; /* that must match */
	char *texts[N_TEXTS];
	double shares[N_SHARES]; /* NAN: not given */
	LodeCauseRule public;    /* borrows from the above */
} Rule;

struct LodeCauseRules {
	GPtrArray *rules; /* Rule */
	GPtrArray *words; /* GPtrArray of GPatternSpec: one of which must match */
};

static void rule_free(void *data)
{
	Rule *self = data;

	for (int i = 0; i < N_TEXTS; i++)
		g_free(self->texts[i]);
	g_free(self->name);
	g_free(self);
}

static Rule *rule_new(const char *name)
{
	Rule *self = g_new0(Rule, 1);

	self->name = g_strdup(name);
	for (int i = 0; i < N_SHARES; i++)
		self->shares[i] = NAN;
	return self;
}

/* --- parsing --- */

static bool fail(GError **error, const Rule *rule, const char *what, const char *key)
{
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_CORRUPT, "rule '%s': %s '%s'", rule->name, what, key);
	return false;
}

static bool is_empty(const LodeCauseWords *words)
{
	for (size_t i = 0; i < G_N_ELEMENTS(words->bits); i++)
		if (words->bits[i] != 0)
			return false;
	return true;
}

static bool parse_words(
	LodeCauseRules *self, Rule *rule, int position, const char *text, GError **error)
{
	g_auto(GStrv) parts = g_strsplit_set(text, " \t", -1);

	for (char **part = parts; *part != NULL; part++) {
		if (**part == '\0')
			continue;
		if (self->words->len == LODE_CAUSE_MAX_WORDS)
			return fail(error, rule, "there are too many words, at", *part);
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

static const Rule *rule_named(const LodeCauseRules *self, const char *name)
{
	for (guint i = 0; i < self->rules->len; i++) {
		const Rule *rule = g_ptr_array_index(self->rules, i);
		if (strcmp(rule->name, name) == 0)
			return rule;
	}
	return NULL;
}

static bool parse_key(
	LodeCauseRules *self, Rule *rule, GKeyFile *file, const char *key, GError **error)
{
	int position = lode_word_find(position_keys, N_POSITIONS, key);
	int text = lode_word_find(text_keys, N_TEXTS, key);
	int share = lode_word_find(share_keys, N_SHARES, key);
	g_autofree char *value = g_key_file_get_string(file, rule->name, key, NULL);

	if (value == NULL || value[0] == '\0')
		return fail(error, rule, "nothing is given for", key);
	if (position >= 0)
		return parse_words(self, rule, position, value, error);
	if (text >= 0) {
		rule->texts[text] = g_steal_pointer(&value);
	} else if (share >= 0) {
		char *end;
		rule->shares[share] = g_ascii_strtod(value, &end);
		if (*end != '\0' || !(rule->shares[share] >= 0 && rule->shares[share] <= 100))
			return fail(error, rule, "a share is not from 0 to 100:", value);
	} else if (strcmp(key, same_as_key) != 0) {
		return fail(error, rule, "unknown key", key);
	}
	return true;
}

/* The texts and shares of the rule that `same-as` names stand in for what the rule lacks. */
static bool borrow_texts(const LodeCauseRules *self, Rule *rule, GKeyFile *file, GError **error)
{
	g_autofree char *name = g_key_file_get_string(file, rule->name, same_as_key, NULL);

	if (name == NULL)
		return true;
	const Rule *other = rule_named(self, name);
	if (other == NULL)
		return fail(error, rule, "no earlier rule is called", name);
	for (int i = 0; i < N_TEXTS; i++)
		if (rule->texts[i] == NULL && (i < N_NEEDED || rule->texts[CAUSE] != NULL))
			rule->texts[i] = g_strdup(other->texts[i]);
	for (int i = 0; i < N_SHARES; i++)
		if (isnan(rule->shares[i]))
			rule->shares[i] = other->shares[i];
	return true;
}

static bool parse_rule(LodeCauseRules *self, Rule *rule, GKeyFile *file, GError **error)
{
	g_auto(GStrv) keys = g_key_file_get_keys(file, rule->name, NULL, NULL);
	bool has_words = false;

	for (char **key = keys; *key != NULL; key++)
		if (!parse_key(self, rule, file, *key, error))
			return false;
	if (!borrow_texts(self, rule, file, error))
		return false;
	for (int i = 0; i < N_NEEDED; i++)
		if (rule->texts[i] == NULL)
			return fail(error, rule, "nothing is given for", text_keys[i]);
	if (rule->texts[CAUSE] != NULL && rule->texts[TITLE] == NULL)
		return fail(error, rule, "nothing is given for", text_keys[TITLE]);
	for (int i = 0; i < WITHOUT; i++)
		has_words |= !is_empty(&rule->words[i]);
	if (!has_words)
		return fail(error, rule, "nothing is given for", position_keys[FOCUS]);
	rule->public = (LodeCauseRule){rule->name, rule->texts[CAUSE], rule->texts[TITLE],
		rule->texts[EXPLANATION], rule->texts[REMEDY], rule->texts[SOURCE],
		isnan(rule->shares[LEAST]) ? USUAL_LEAST : rule->shares[LEAST],
		isnan(rule->shares[MOST]) ? USUAL_MOST : rule->shares[MOST]};
	return true;
}

LodeCauseRules *lode_cause_rules_parse(const char *text, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) reason = NULL;
	g_autoptr(LodeCauseRules) self = g_new0(LodeCauseRules, 1);

	self->rules = g_ptr_array_new_with_free_func(rule_free);
	self->words = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	if (!g_key_file_load_from_data(file, text, (gsize)-1, G_KEY_FILE_NONE, &reason)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s", reason->message);
		return NULL;
	}
	g_auto(GStrv) names = g_key_file_get_groups(file, NULL);
	for (char **name = names; *name != NULL; name++) {
		Rule *rule = rule_new(*name);
		if (!parse_rule(self, rule, file, error)) {
			rule_free(rule);
			return NULL;
		}
		g_ptr_array_add(self->rules, rule);
	}
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
	g_ptr_array_unref(self->rules);
	g_ptr_array_unref(self->words);
	g_free(self);
}

size_t lode_cause_rules_n(const LodeCauseRules *self)
{
	return self->rules->len;
}

const LodeCauseRule *lode_cause_rules_at(const LodeCauseRules *self, size_t index)
{
	const Rule *rule = g_ptr_array_index(self->rules, index);

	return &rule->public;
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
	for (guint i = 0; i < self->rules->len; i++) {
		const Rule *rule = g_ptr_array_index(self->rules, i);
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
