/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/rules/service_rules.h"

#include "base/error.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char builtin_rules[] =
#include "analyses/diagnoses/services_ini.h"
	;

#define LEAST_SHARE 0.02
#define REPEATED "repeated-work" /* the cause that matches no function by itself */

enum { MATCH_FUNCTIONS, MATCH_IMAGES, MATCH_FAMILY, MATCH_FILES, N_MATCHES };

typedef struct {
	LodeServiceRule rule;        /* its strings are of self->strings */
	GPtrArray *globs[N_MATCHES]; /* GPatternSpec; none: any */
} Row;

struct LodeServiceRules {
	GPtrArray *rows; /* Row */
	GStringChunk *strings;
};

static void row_free(void *data)
{
	Row *self = data;

	for (unsigned i = 0; i < N_MATCHES; i++)
		g_ptr_array_unref(self->globs[i]);
	g_free(self);
}

static bool fail(GError **error, const Row *row, const char *reason, const char *key)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "group '%s': %s '%s'", row->rule.name,
		reason, key);
	return false;
}

static const char *text_of(LodeServiceRules *self, GKeyFile *file, const Row *row, const char *key)
{
	g_autofree char *text = g_key_file_get_string(file, row->rule.name, key, NULL);

	return text != NULL ? g_string_chunk_insert_const(self->strings, text) : NULL;
}

/* A number from 0 to 1; *out stays where the key is not given. */
static bool take_part(GKeyFile *file, const Row *row, const char *key, double *out, GError **error)
{
	g_autofree char *text = g_key_file_get_string(file, row->rule.name, key, NULL);
	char *end = NULL;

	if (text == NULL)
		return true;
	double value = g_ascii_strtod(text, &end);
	if (end == text || *end != '\0' || !(value >= 0 && value <= 1))
		return fail(error, row, "not a number from 0 to 1 in", key);
	*out = value;
	return true;
}

/* The earlier or later row of this name; NULL: none. */
static const Row *row_named(const LodeServiceRules *self, const char *name)
{
	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = g_ptr_array_index(self->rows, i);
		if (strcmp(row->rule.name, name) == 0)
			return row;
	}
	return NULL;
}

static bool take_other(const LodeServiceRules *self, GKeyFile *file, const Row *row,
	const char *key, const LodeServiceRule **out, GError **error)
{
	g_autofree char *name = g_key_file_get_string(file, row->rule.name, key, NULL);
	const Row *other = name != NULL ? row_named(self, name) : NULL;

	if (name != NULL && (other == NULL || other == row))
		return fail(error, row, "no other group is named in", key);
	*out = other != NULL ? &other->rule : NULL;
	return true;
}

static bool take_globs(GKeyFile *file, Row *row, GError **error)
{
	static const char *const keys[N_MATCHES] = {
		[MATCH_FUNCTIONS] = "functions",
		[MATCH_IMAGES] = "images",
		[MATCH_FAMILY] = "family",
		[MATCH_FILES] = "files",
	};
	guint n = 0;

	for (unsigned i = 0; i < N_MATCHES; i++) {
		g_auto(GStrv) globs = g_key_file_get_string_list(
			file, row->rule.name, keys[i], NULL, NULL);
		for (char **glob = globs; glob != NULL && *glob != NULL; glob++, n++) {
			if (*g_strstrip(*glob) == '\0')
				return fail(error, row, "an empty pattern in", keys[i]);
			g_ptr_array_add(row->globs[i], g_pattern_spec_new(*glob));
		}
	}
	return n > 0 || g_strcmp0(row->rule.cause, REPEATED) == 0 ||
	       fail(error, row, "nothing is given for", "functions");
}

static bool parse_row(LodeServiceRules *self, GKeyFile *file, Row *row, GError **error)
{
	static const char *const known[] = {"functions", "images", "family", "files", "cause",
		"title", "service", "explanation", "remedy", "source", "factor", "least", "most",
		"repeated", "part-of", "rest", NULL};
	g_auto(GStrv) keys = g_key_file_get_keys(file, row->rule.name, NULL, NULL);
	LodeServiceRule *rule = &row->rule;
	const LodeServiceRule *whole;

	for (char **key = keys; *key != NULL; key++)
		if (!g_strv_contains(known, *key))
			return fail(error, row, "unknown key", *key);
	rule->cause = text_of(self, file, row, "cause");
	rule->title = text_of(self, file, row, "title");
	rule->service = text_of(self, file, row, "service");
	rule->explanation = text_of(self, file, row, "explanation");
	rule->remedy = text_of(self, file, row, "remedy");
	rule->source = text_of(self, file, row, "source");
	rule->factor = rule->least = rule->most = (double)NAN;
	if (!take_globs(file, row, error) ||
		!take_part(file, row, "factor", &rule->factor, error) ||
		!take_part(file, row, "least", &rule->least, error) ||
		!take_part(file, row, "most", &rule->most, error) ||
		!take_other(self, file, row, "part-of", &whole, error) ||
		!take_other(self, file, row, "rest", &rule->rest, error) ||
		!take_other(self, file, row, "repeated", &rule->repeated, error))
		return false;
	rule->whole = whole != NULL ? whole : rule;
	return true;
}

/* A part has from its whole the texts that it does not give. */
static bool complete_row(Row *row, GError **error)
{
	LodeServiceRule *rule = &row->rule;
	const LodeServiceRule *whole = rule->whole;

	if (whole->whole != whole)
		return fail(error, row, "itself a part of another one:", whole->name);
	rule->cause = rule->cause != NULL ? rule->cause : whole->cause;
	rule->title = rule->title != NULL ? rule->title : whole->title;
	rule->service = rule->service != NULL ? rule->service : whole->service;
	rule->explanation = rule->explanation != NULL ? rule->explanation : whole->explanation;
	rule->remedy = rule->remedy != NULL ? rule->remedy : whole->remedy;
	rule->source = rule->source != NULL ? rule->source : whole->source;
	rule->factor = !isnan(rule->factor)    ? rule->factor
	               : !isnan(whole->factor) ? whole->factor
	                                       : 1;
	rule->most = !isnan(rule->most) ? rule->most : !isnan(whole->most) ? whole->most : 1;
	rule->least = !isnan(rule->least)    ? rule->least
	              : !isnan(whole->least) ? whole->least
	                                     : LEAST_SHARE;
	if (rule->cause != NULL && (rule->explanation == NULL || rule->remedy == NULL))
		return fail(error, row, "nothing is given for",
			rule->explanation == NULL ? "explanation" : "remedy");
	return true;
}

LodeServiceRules *lode_service_rules_parse(const char *text, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) reason = NULL;
	g_autoptr(LodeServiceRules) self = g_new0(LodeServiceRules, 1);

	self->rows = g_ptr_array_new_with_free_func(row_free);
	self->strings = g_string_chunk_new(1 << 12);
	if (!g_key_file_load_from_data(file, text, (gsize)-1, G_KEY_FILE_NONE, &reason)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s", reason->message);
		return NULL;
	}
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
	for (char **group = groups; *group != NULL; group++) {
		Row *row = g_new0(Row, 1);
		row->rule.name = g_string_chunk_insert(self->strings, *group);
		for (unsigned i = 0; i < N_MATCHES; i++)
			row->globs[i] = g_ptr_array_new_with_free_func(
				(GDestroyNotify)g_pattern_spec_free);
		g_ptr_array_add(self->rows, row);
	}
	for (guint i = 0; i < self->rows->len; i++)
		if (!parse_row(self, file, g_ptr_array_index(self->rows, i), error))
			return NULL;
	for (guint i = 0; i < self->rows->len; i++)
		if (!complete_row(g_ptr_array_index(self->rows, i), error))
			return NULL;
	return g_steal_pointer(&self);
}

LodeServiceRules *lode_service_rules_new(void)
{
	g_autoptr(GError) error = NULL;
	LodeServiceRules *self = lode_service_rules_parse(builtin_rules, &error);

	g_assert_no_error(error);
	return self;
}

void lode_service_rules_free(LodeServiceRules *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->rows);
	g_string_chunk_free(self->strings);
	g_free(self);
}

guint lode_service_rules_n(const LodeServiceRules *self)
{
	return self->rows->len;
}

const LodeServiceRule *lode_service_rules_at(const LodeServiceRules *self, guint index)
{
	return &((const Row *)g_ptr_array_index(self->rows, index))->rule;
}

static bool matches(const GPtrArray *globs, const char *text)
{
	for (guint i = 0; i < globs->len && text != NULL; i++)
		if (g_pattern_spec_match_string(g_ptr_array_index(globs, i), text))
			return true;
	return globs->len == 0;
}

const LodeServiceRule *lode_service_rules_find(const LodeServiceRules *self, const char *function,
	const char *image, const char *family, const char *file)
{
	for (guint i = 0; i < self->rows->len; i++) {
		const Row *row = g_ptr_array_index(self->rows, i);
		if (g_strcmp0(row->rule.cause, REPEATED) != 0 &&
			matches(row->globs[MATCH_FAMILY], family) &&
			matches(row->globs[MATCH_FILES], file) &&
			matches(row->globs[MATCH_IMAGES], image) &&
			matches(row->globs[MATCH_FUNCTIONS], function))
			return &row->rule;
	}
	return NULL;
}
