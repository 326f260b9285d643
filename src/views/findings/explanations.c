/* SPDX-License-Identifier: MIT */
/*
 *   explanations.ini ──▶ rules ── words ── globs        first rule of which all words match
 *                                  all      any         an attribute of the element
 */
#include "views/findings/explanations.h"

#include "base/error.h"
#include "base/text/words.h"

#include <string.h>

static const char builtin_rules[] =
#include "views/explanations_ini.h"
	;

/* The conditions of a rule on the charged instruction, and on one element before and after it. */
enum { BEFORE, FOCUS, AFTER, N_POSITIONS };
static const char *const position_keys[] = {
	[BEFORE] = "before", [FOCUS] = "focus", [AFTER] = "after"};

enum { EXPLANATION, REMEDY, SOURCE, N_TEXTS };
static const char *const text_keys[] = {
	[EXPLANATION] = "explanation", [REMEDY] = "remedy", [SOURCE] = "source"};

static const char same_as_key[] = "same-as";

typedef struct {
	char *name;
	GPtrArray *words[N_POSITIONS]; /* GPtrArray of GPatternSpec: one of which must match */
	char *texts[N_TEXTS];
	LodeExplanation explanation; /* borrows from the above */
} Rule;

struct LodeExplanations {
	GPtrArray *rules; /* Rule */
};

static void rule_free(void *data)
{
	Rule *self = data;

	for (int i = 0; i < N_POSITIONS; i++)
		g_ptr_array_unref(self->words[i]);
	for (int i = 0; i < N_TEXTS; i++)
		g_free(self->texts[i]);
	g_free(self->name);
	g_free(self);
}

static Rule *rule_new(const char *name)
{
	Rule *self = g_new0(Rule, 1);

	self->name = g_strdup(name);
	for (int i = 0; i < N_POSITIONS; i++)
		self->words[i] = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	return self;
}

/* --- parsing --- */

static bool fail(GError **error, const Rule *rule, const char *what, const char *key)
{
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_CORRUPT, "rule '%s': %s '%s'", rule->name, what, key);
	return false;
}

static void parse_words(GPtrArray *words, const char *text)
{
	g_auto(GStrv) parts = g_strsplit_set(text, " \t", -1);

	for (char **part = parts; *part != NULL; part++) {
		if (**part == '\0')
			continue;
		g_auto(GStrv) globs = g_strsplit(*part, "|", -1);
		GPtrArray *word = g_ptr_array_new_with_free_func(
			(GDestroyNotify)g_pattern_spec_free);
		for (char **glob = globs; *glob != NULL; glob++)
			g_ptr_array_add(word, g_pattern_spec_new(*glob));
		g_ptr_array_add(words, word);
	}
}

static const Rule *rule_named(const LodeExplanations *self, const char *name)
{
	for (guint i = 0; i < self->rules->len; i++) {
		const Rule *rule = g_ptr_array_index(self->rules, i);
		if (strcmp(rule->name, name) == 0)
			return rule;
	}
	return NULL;
}

static bool parse_key(Rule *rule, GKeyFile *file, const char *key, GError **error)
{
	int position = lode_word_find(position_keys, N_POSITIONS, key);
	int text = lode_word_find(text_keys, N_TEXTS, key);
	g_autofree char *value = g_key_file_get_string(file, rule->name, key, NULL);

	if (value == NULL || value[0] == '\0')
		return fail(error, rule, "nothing is given for", key);
	if (position >= 0)
		parse_words(rule->words[position], value);
	else if (text >= 0)
		rule->texts[text] = g_steal_pointer(&value);
	else if (strcmp(key, same_as_key) != 0)
		return fail(error, rule, "unknown key", key);
	return true;
}

/* Texts of the rule that `same-as` names stand in for those that the rule lacks. */
static bool borrow_texts(const LodeExplanations *self, Rule *rule, GKeyFile *file, GError **error)
{
	g_autofree char *name = g_key_file_get_string(file, rule->name, same_as_key, NULL);

	if (name == NULL)
		return true;
	const Rule *other = rule_named(self, name);
	if (other == NULL)
		return fail(error, rule, "no earlier rule is called", name);
	for (int i = 0; i < N_TEXTS; i++)
		if (rule->texts[i] == NULL)
			rule->texts[i] = g_strdup(other->texts[i]);
	return true;
}

static bool parse_rule(const LodeExplanations *self, Rule *rule, GKeyFile *file, GError **error)
{
	g_auto(GStrv) keys = g_key_file_get_keys(file, rule->name, NULL, NULL);
	guint n_words = 0;

	for (char **key = keys; *key != NULL; key++)
		if (!parse_key(rule, file, *key, error))
			return false;
	if (!borrow_texts(self, rule, file, error))
		return false;
	for (int i = 0; i < N_TEXTS; i++)
		if (rule->texts[i] == NULL)
			return fail(error, rule, "nothing is given for", text_keys[i]);
	for (int i = 0; i < N_POSITIONS; i++)
		n_words += rule->words[i]->len;
	if (n_words == 0)
		return fail(error, rule, "nothing is given for", position_keys[FOCUS]);
	rule->explanation = (LodeExplanation){
		rule->name, rule->texts[EXPLANATION], rule->texts[REMEDY], rule->texts[SOURCE]};
	return true;
}

LodeExplanations *lode_explanations_parse(const char *text, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) reason = NULL;
	g_autoptr(LodeExplanations) self = g_new0(LodeExplanations, 1);

	self->rules = g_ptr_array_new_with_free_func(rule_free);
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

LodeExplanations *lode_explanations_new(void)
{
	g_autoptr(GError) error = NULL;
	LodeExplanations *self = lode_explanations_parse(builtin_rules, &error);

	g_assert_no_error(error);
	return self;
}

void lode_explanations_free(LodeExplanations *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->rules);
	g_free(self);
}

size_t lode_explanations_n(const LodeExplanations *self)
{
	return self->rules->len;
}

const LodeExplanation *lode_explanations_at(const LodeExplanations *self, size_t index)
{
	const Rule *rule = g_ptr_array_index(self->rules, index);

	return &rule->explanation;
}

/* --- matching --- */

/* `attributes`: char *, names of one element. */
static bool word_matches(const GPtrArray *word, const GPtrArray *attributes)
{
	for (guint i = 0; i < word->len; i++)
		for (guint j = 0; j < attributes->len; j++)
			if (g_pattern_spec_match_string(
				    g_ptr_array_index(word, i), g_ptr_array_index(attributes, j)))
				return true;
	return false;
}

static bool has_words(const GPtrArray *words, const GPtrArray *attributes)
{
	for (guint i = 0; i < words->len; i++)
		if (!word_matches(g_ptr_array_index(words, i), attributes))
			return false;
	return true;
}

/* Whether one of the elements first … end − 1 has all the words; true if there are no words. */
static bool any_has_words(const GPtrArray *words, const GPtrArray *elements, guint first, guint end)
{
	if (words->len == 0)
		return true;
	for (guint i = first; i < end; i++)
		if (has_words(words, g_ptr_array_index(elements, i)))
			return true;
	return false;
}

static GPtrArray *names_of(const LodeFindings *findings, const LodeFindingElement *element)
{
	GPtrArray *names = g_ptr_array_new();

	for (uint32_t i = 0; i < element->n_items; i++)
		g_ptr_array_add(names,
			g_ptr_array_index(findings->attributes,
				g_array_index(findings->items, uint32_t, element->first_item + i)));
	return names;
}

static const LodeAttributeSet *set_at(
	const LodeProfile *profile, const LodeFindings *findings, uint32_t place)
{
	uint32_t one = g_array_index(findings->places, LodeFindingPlace, place).instruction;
	uint32_t set = lode_profile_instruction(profile, one)->attribute_set;

	return &LODE_AT(profile->attribute_sets, LodeAttributeSet, set);
}

static bool set_has(const LodeProfile *profile, const LodeAttributeSet *set, uint32_t attribute)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (LODE_AT(profile->set_members, uint32_t, set->first + i) == attribute)
			return true;
	return false;
}

/* Adds to the focus what all places have in common. */
static void add_common(GPtrArray *names, const LodeProfile *profile, const LodeFindings *findings,
	const LodeFinding *finding)
{
	if (profile == NULL || finding->n_places == 0)
		return;
	const LodeAttributeSet *first = set_at(profile, findings, finding->first_place);
	for (uint32_t i = 0; i < first->n; i++) {
		uint32_t attribute = LODE_AT(profile->set_members, uint32_t, first->first + i);
		char *name = g_ptr_array_index(profile->attributes, attribute);
		bool is_common = !g_str_has_prefix(name, "ev:");
		for (uint32_t p = 1; p < finding->n_places && is_common; p++)
			is_common = set_has(profile,
				set_at(profile, findings, finding->first_place + p), attribute);
		if (is_common)
			g_ptr_array_add(names, name);
	}
}

const LodeExplanation *lode_explanations_find(const LodeExplanations *self,
	const LodeProfile *profile, const LodeFindings *findings, const LodeFinding *finding)
{
	g_autoptr(GPtrArray)
		elements = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);

	for (uint32_t i = 0; i < finding->n_elements; i++)
		g_ptr_array_add(elements,
			names_of(findings, &g_array_index(findings->elements, LodeFindingElement,
						   finding->first_element + i)));
	if (finding->focus >= elements->len)
		return NULL;
	GPtrArray *focus = g_ptr_array_index(elements, finding->focus);
	add_common(focus, profile, findings, finding);
	for (guint i = 0; i < self->rules->len; i++) {
		const Rule *rule = g_ptr_array_index(self->rules, i);
		if (has_words(rule->words[FOCUS], focus) &&
			any_has_words(rule->words[BEFORE], elements, 0, finding->focus) &&
			any_has_words(
				rule->words[AFTER], elements, finding->focus + 1, elements->len))
			return &rule->explanation;
	}
	return NULL;
}
