/* SPDX-License-Identifier: MIT */
#include "base/text/rule_file.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most are told apart by what stands before the first wildcard. */
typedef struct {
	char *begin;
	size_t length;
	GPatternSpec *spec;
} Pattern;

struct LodeGlobs {
	GHashTable *names; /* those without wildcards */
	GArray *patterns;  /* Pattern */
	GHashTable *users; /* by its name: GPtrArray of the globs that are for it */
};

static void clear_pattern(void *data)
{
	Pattern *self = data;

	g_pattern_spec_free(self->spec);
	g_free(self->begin);
}

static void add_glob(LodeGlobs **self, const char *glob)
{
	size_t length = strcspn(glob, "*?");

	if (*self == NULL) {
		*self = g_new(LodeGlobs, 1);
		(*self)->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
		(*self)->patterns = g_array_new(FALSE, FALSE, sizeof(Pattern));
		g_array_set_clear_func((*self)->patterns, clear_pattern);
		(*self)->users = g_hash_table_new_full(
			g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
	}
	if (glob[length] == '\0') {
		g_hash_table_add((*self)->names, g_strdup(glob));
		return;
	}
	const Pattern pattern = {g_strndup(glob, length), length, g_pattern_spec_new(glob)};
	g_array_append_val((*self)->patterns, pattern);
}

static void add_user(LodeGlobs *self, const char *user, const char *glob)
{
	GPtrArray *globs = g_hash_table_lookup(self->users, user);

	if (globs == NULL) {
		globs = g_ptr_array_new_with_free_func(g_free);
		g_hash_table_insert(self->users, g_strdup(user), globs);
	}
	g_ptr_array_add(globs, g_strdup(glob));
}

void lode_globs_add_for(LodeGlobs **self, const LodeGlobs *from, const char *user)
{
	const GPtrArray *globs = g_hash_table_lookup(from->users, user);

	for (guint i = 0; globs != NULL && i < globs->len; i++)
		add_glob(self, globs->pdata[i]);
}

static void globs_free(LodeGlobs *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->names);
	g_array_unref(self->patterns);
	g_hash_table_unref(self->users);
	g_free(self);
}

bool lode_globs_match(const LodeGlobs *self, const char *text)
{
	size_t length = strlen(text);

	if (g_hash_table_contains(self->names, text))
		return true;
	for (guint i = 0; i < self->patterns->len; i++) {
		const Pattern *one = &g_array_index(self->patterns, Pattern, i);
		if (strncmp(text, one->begin, one->length) == 0 &&
			g_pattern_spec_match(one->spec, length, text, NULL))
			return true;
	}
	return false;
}

#define FIELD(type, rule, key) (*(type *)(void *)((char *)(rule) + (key)->offset))

static const char *group_of(const void *rule)
{
	return *(const char *const *)rule;
}

bool lode_rule_file_fail(const LodeRuleFile *self, const void *rule, const char *key,
	const char *expected, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: group '%s': '%s': expected %s",
		self->form->file, group_of(rule), key, expected);
	return false;
}

void *lode_rule_file_named(const LodeRuleFile *self, const char *group)
{
	for (guint i = 0; i < self->n; i++)
		if (strcmp(group_of(lode_rule_file_at(self, i)), group) == 0)
			return lode_rule_file_at(self, i);
	return NULL;
}

static bool fail(const LodeRuleFile *self, const void *rule, const LodeRuleKey *key, GError **error)
{
	g_autofree char *expected = NULL;

	switch (key->kind) {
	case LODE_RULE_KEY_TEXT:
		expected = g_strdup("a text");
		break;
	case LODE_RULE_KEY_WORD:
		expected = g_strdup_printf("'%s'", key->word);
		break;
	case LODE_RULE_KEY_NUMBER:
		expected = g_strdup_printf("a number from 0 to %g", key->most);
		break;
	case LODE_RULE_KEY_GLOBS:
	case LODE_RULE_KEY_GLOBS_FOR:
		expected = g_strdup("patterns, separated by ';'");
		break;
	case LODE_RULE_KEY_OTHER:
	case LODE_RULE_KEY_BASE:
		expected = g_strdup("the name of another group");
		break;
	}
	return lode_rule_file_fail(self, rule, key->name, expected, error);
}

static bool take_number(const char *text, double most, double *out)
{
	char *end;

	*out = g_ascii_strtod(text, &end);
	return end != text && *end == '\0' && *out >= 0 && *out <= most;
}

/* This group is no rule: its keys name lists of globs, which others have as "@NAME". */
#define SETS "@sets"

/* `users` are separated by ";". */
static bool take_globs(
	GKeyFile *file, const char *group, const char *key, const char *users, LodeGlobs **globs)
{
	g_auto(GStrv) texts = g_key_file_get_string_list(file, group, key, NULL, NULL);
	g_auto(GStrv) names = g_strsplit(users, ";", -1);

	for (char **text = texts; text != NULL && *text != NULL; text++) {
		if (*g_strstrip(*text) == '\0')
			return false;
		if (**text == '@') {
			if (strcmp(group, SETS) == 0 ||
				!take_globs(file, SETS, *text + 1, users, globs))
				return false;
			continue;
		}
		add_glob(globs, *text);
		for (char **name = names; *name != NULL; name++)
			add_user(*globs, *name, *text);
	}
	return texts != NULL && texts[0] != NULL;
}

static bool take_globs_for(
	GKeyFile *file, const char *group, const LodeRuleKey *key, LodeGlobs **globs)
{
	g_auto(GStrv) names = g_key_file_get_keys(file, group, NULL, NULL);

	for (char **name = names; *name != NULL; name++)
		if (g_str_has_prefix(*name, key->name) &&
			!take_globs(file, group, *name, *name + strlen(key->name), globs))
			return false;
	return true;
}

/* Whether the value of a group's key is as the form says. */
static bool take_key(LodeRuleFile *self, GKeyFile *file, void *rule, const LodeRuleKey *key)
{
	g_autofree char *text = g_key_file_get_string(file, group_of(rule), key->name, NULL);

	if (key->kind == LODE_RULE_KEY_NUMBER)
		FIELD(double, rule, key) = (double)NAN;
	if (key->kind == LODE_RULE_KEY_GLOBS_FOR)
		return take_globs_for(file, group_of(rule), key, &FIELD(LodeGlobs *, rule, key));
	if (!g_key_file_has_key(file, group_of(rule), key->name, NULL))
		return true;
	if (text == NULL || text[0] == '\0')
		return false;
	switch (key->kind) {
	case LODE_RULE_KEY_TEXT:
		FIELD(const char *, rule, key) = g_string_chunk_insert_const(self->strings, text);
		return true;
	case LODE_RULE_KEY_WORD:
		return FIELD(bool, rule, key) = strcmp(text, key->word) == 0;
	case LODE_RULE_KEY_NUMBER:
		return take_number(text, key->most, &FIELD(double, rule, key));
	case LODE_RULE_KEY_GLOBS:
		return take_globs(
			file, group_of(rule), key->name, "", &FIELD(LodeGlobs *, rule, key));
	case LODE_RULE_KEY_GLOBS_FOR:
		break;
	case LODE_RULE_KEY_OTHER:
	case LODE_RULE_KEY_BASE:
		FIELD(const void *, rule, key) = lode_rule_file_named(self, text);
		return FIELD(const void *, rule, key) != NULL &&
		       FIELD(const void *, rule, key) != rule;
	}
	return false;
}

static bool is_called(const LodeRuleKey *key, const char *name)
{
	return key->kind == LODE_RULE_KEY_GLOBS_FOR ? g_str_has_prefix(name, key->name)
	                                            : strcmp(name, key->name) == 0;
}

static bool check_names(const LodeRuleFile *self, GKeyFile *file, const void *rule, GError **error)
{
	g_auto(GStrv) keys = g_key_file_get_keys(file, group_of(rule), NULL, NULL);

	for (char **key = keys; *key != NULL; key++) {
		size_t i = 0;
		while (i < self->form->n_keys && !is_called(&self->form->keys[i], *key))
			i++;
		if (i == self->form->n_keys)
			return lode_rule_file_fail(self, rule, *key, "a known key", error);
	}
	return true;
}

/* What a rule lacks it has from its base, and that from its own. */
static bool borrow(
	const LodeRuleFile *self, void *rule, const LodeRuleKey *base, guint depth, GError **error)
{
	void *other = FIELD(void *, rule, base);

	if (other == NULL)
		return true;
	if (depth == self->n)
		return lode_rule_file_fail(
			self, rule, base->name, "a group that has nothing from this one", error);
	if (!borrow(self, other, base, depth + 1, error))
		return false;
	for (size_t i = 0; i < self->form->n_keys; i++) {
		const LodeRuleKey *key = &self->form->keys[i];
		if (!key->is_lent)
			continue;
		if (key->kind == LODE_RULE_KEY_NUMBER && isnan(FIELD(double, rule, key)))
			FIELD(double, rule, key) = FIELD(double, other, key);
		else if (key->kind == LODE_RULE_KEY_TEXT && FIELD(const char *, rule, key) == NULL)
			FIELD(const char *, rule, key) = FIELD(const char *, other, key);
	}
	return true;
}

static bool is_missing(void *rule, const LodeRuleKey *key)
{
	if (key->kind == LODE_RULE_KEY_NUMBER)
		return isnan(FIELD(double, rule, key));
	return key->kind != LODE_RULE_KEY_WORD && FIELD(void *, rule, key) == NULL;
}

static bool read_rules(LodeRuleFile *self, GKeyFile *file, GError **error)
{
	const LodeRuleForm *form = self->form;

	for (guint i = 0; i < self->n; i++) {
		void *rule = lode_rule_file_at(self, i);
		if (!check_names(self, file, rule, error))
			return false;
		for (size_t k = 0; k < form->n_keys; k++)
			if (!take_key(self, file, rule, &form->keys[k]))
				return fail(self, rule, &form->keys[k], error);
	}
	for (size_t k = 0; k < form->n_keys; k++)
		for (guint i = 0; i < self->n && form->keys[k].kind == LODE_RULE_KEY_BASE; i++)
			if (!borrow(self, lode_rule_file_at(self, i), &form->keys[k], 0, error))
				return false;
	for (guint i = 0; i < self->n; i++)
		for (size_t k = 0; k < form->n_keys; k++)
			if (form->keys[k].is_needed &&
				is_missing(lode_rule_file_at(self, i), &form->keys[k]))
				return fail(
					self, lode_rule_file_at(self, i), &form->keys[k], error);
	return true;
}

LodeRuleFile *lode_rule_file_read(const LodeRuleForm *form, const char *text, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) reason = NULL;
	g_autoptr(LodeRuleFile) self = g_new0(LodeRuleFile, 1);
	gsize n;

	self->form = form;
	self->strings = g_string_chunk_new(1 << 12);
	if (!g_key_file_load_from_data(file, text, (gsize)-1, G_KEY_FILE_NONE, &reason)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: %s", form->file,
			reason->message);
		return NULL;
	}
	g_auto(GStrv) groups = g_key_file_get_groups(file, &n);
	self->rules = g_malloc0_n(n + 1, form->rule_size);
	for (gsize i = 0; i < n; i++)
		if (strcmp(groups[i], SETS) != 0)
			*(const char **)lode_rule_file_at(self, self->n++) = g_string_chunk_insert(
				self->strings, groups[i]);
	return read_rules(self, file, error) ? g_steal_pointer(&self) : NULL;
}

void lode_rule_file_free(LodeRuleFile *self)
{
	if (self == NULL)
		return;
	for (guint i = 0; i < self->n; i++)
		for (size_t k = 0; k < self->form->n_keys; k++)
			if (self->form->keys[k].kind == LODE_RULE_KEY_GLOBS)
				globs_free(FIELD(LodeGlobs *, lode_rule_file_at(self, i),
					&self->form->keys[k]));
	g_free(self->rules);
	g_string_chunk_free(self->strings);
	g_free(self);
}
