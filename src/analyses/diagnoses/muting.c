/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/muting.h"

#include "base/error.h"
#include "base/files/regular_file.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 };

/* Errors: _IO, _CORRUPT. A device such as /dev/null has no size. */
static char *read_file(const char *path, GError **error)
{
	g_autofree char *text = g_malloc(MAX_BYTES + 1);
	FILE *file = fopen(path, "re");

	if (file == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, g_strerror(errno));
		return NULL;
	}
	size_t n = fread(text, 1, MAX_BYTES, file);
	bool is_read = ferror(file) == 0;
	bool is_whole = fgetc(file) == EOF;
	fclose(file);
	text[n] = '\0';
	if (is_read && is_whole)
		return g_strdup(text);
	g_set_error(error, LODE_ERROR, is_read ? LODE_ERROR_CORRUPT : LODE_ERROR_IO, "%s: %s", path,
		is_read ? "too large for a list of names" : "cannot be read");
	return NULL;
}

char **lode_muting_read(const char *path, GError **error)
{
	g_autoptr(GStrvBuilder) globs = g_strv_builder_new();

	if (path == NULL && !g_file_test(LODE_MUTING_FILE, G_FILE_TEST_EXISTS))
		return g_strv_builder_end(globs);
	g_autofree char *text = path != NULL ? read_file(path, error)
	                                     : lode_regular_file_read(
						       LODE_MUTING_FILE, MAX_BYTES, error);
	if (text == NULL)
		return NULL;
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (size_t i = 0; lines[i] != NULL; i++) {
		const char *line = g_strstrip(lines[i]);
		if (*line == '\0' || *line == '#')
			continue;
		if (strchr(line, '@') == NULL) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
				"%s:%zu: '%s' is not the name of a diagnosis, such as "
				"'division@hash_step' or 'division@*'",
				path != NULL ? path : LODE_MUTING_FILE, i + 1, line);
			return NULL;
		}
		g_strv_builder_add(globs, line);
	}
	return g_strv_builder_end(globs);
}

/* A name of C++ may have brackets, which a glob takes for a set. */
static bool does_match(const char *glob, const char *name)
{
	return strcmp(glob, name) == 0 || fnmatch(glob, name, 0) == 0;
}

static void apply(const char *const *globs, GPtrArray *diagnoses)
{
	for (guint i = 0; i < diagnoses->len; i++) {
		LodeDiagnosis *one = g_ptr_array_index(diagnoses, i);
		for (size_t k = 0; globs[k] != NULL && !one->is_muted; k++)
			one->is_muted = does_match(globs[k], one->name);
	}
}

void lode_muting_apply(const char *const *globs, LodeDiagnoses *diagnoses)
{
	apply(globs, diagnoses->diagnoses);
	apply(globs, diagnoses->smaller);
}
