/* SPDX-License-Identifier: MIT */
/* A hierarchy by its text, a preset's name or a file. */
#include "caches/hierarchy/hierarchy.h"

#include "base/error.h"
#include "base/text/suggestion.h"
#include "caches/hierarchy/hierarchy_text.h"
#include "machine/machine_caches.h"

#include <string.h>

/* docs/reference/caches.md has the sources of the figures. */
typedef struct {
	const char *name;
	const char *text; /* NULL: read from the machine */
	char *(*ask)(const char *xml, GError **error);
} Preset;

static const Preset presets[] = {
	{"host", NULL, lode_machine_caches_text},
	{"cachegrind", NULL, lode_machine_caches_as_cachegrind},
	{"skylake-server",
		"i1=32K:8:64,d1=32K:8:64,l2=1M:16:64,l3=22M:11:64:shared,"
		"itlb=128:8:4K,dtlb=64:4:4K,stlb=1536:12:4K",
		NULL},
	{"zen3",
		"i1=32K:8:64,d1=32K:8:64,l2=512K:8:64,l3=32M:16:64:shared,"
		"itlb=64:full:4K,dtlb=64:full:4K,itlb2=512:8:4K,dtlb2=2048:16:4K",
		NULL},
	{"cortex-a72",
		"i1=48K:3:64,d1=32K:2:64,l2=1M:16:64:shared,"
		"itlb=48:full:4K,dtlb=32:full:4K,stlb=1024:4:4K",
		NULL},
	{"apple-m1", "i1=192K:6:64,d1=128K:8:64,l2=12M:12:128:shared", NULL},
};

void lode_hierarchy_free(LodeHierarchy *self)
{
	if (self == NULL)
		return;
	g_free(self->name);
	g_array_unref(self->caches);
	g_free(self);
}

static LodeHierarchy *read_named(const char *name, const char *text, GError **error)
{
	g_autoptr(LodeHierarchy) self = lode_hierarchy_new(name);

	if (!lode_hierarchy_read_text(self, text, error))
		return NULL;
	return g_steal_pointer(&self);
}

/* The preset that a text begins with, alone or before ",cores=4"; NULL: none. */
static const Preset *find_preset(const char *text)
{
	for (size_t i = 0; i < G_N_ELEMENTS(presets); i++) {
		size_t length = strlen(presets[i].name);

		if (strncmp(text, presets[i].name, length) == 0 &&
			(text[length] == '\0' || text[length] == ','))
			return &presets[i];
	}
	return NULL;
}

/* `text` is the preset's name and what follows it; it names the result. */
static LodeHierarchy *read_preset(const Preset *preset, const char *text, GError **error)
{
	g_autofree char *asked = NULL, *whole = NULL;
	LodeHierarchy *self;

	if (preset->ask != NULL) {
		asked = preset->ask(NULL, error);
		if (asked == NULL)
			return NULL;
	}
	whole = g_strconcat(
		asked != NULL ? asked : preset->text, "\n", text + strlen(preset->name), NULL);
	self = read_named(text, whole, error);
	if (self == NULL)
		g_prefix_error(error, "preset '%s': ", preset->name);
	return self;
}

static LodeHierarchy *read_file(const char *path, GError **error)
{
	g_autoptr(GError) cause = NULL;
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, &cause);
	g_autofree char *text = NULL;
	LodeHierarchy *self;

	if (file == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s", cause->message);
		return NULL;
	}
	if (g_mapped_file_get_length(file) > LODE_HIERARCHY_MAX_TEXT) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%s: a description of caches has at most %d bytes", path,
			LODE_HIERARCHY_MAX_TEXT);
		return NULL;
	}
	text = g_strndup(g_mapped_file_get_contents(file), g_mapped_file_get_length(file));
	self = read_named(path, text != NULL ? text : "", error);
	if (self == NULL)
		g_prefix_error(error, "%s: ", path);
	return self;
}

static void refuse_word(const char *text, GError **error)
{
	const char *names[G_N_ELEMENTS(presets) + 1] = {NULL};
	const char *nearest;
	g_autofree char *list = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(presets); i++)
		names[i] = presets[i].name;
	nearest = lode_suggestion(text, names);
	list = g_strjoinv(", ", (char **)names);
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"'%s' is not a preset%s%s%s (%s), a file, or a description such as d1=32K:8:64",
		text, nearest != NULL ? ": did you mean '" : "", nearest != NULL ? nearest : "",
		nearest != NULL ? "'?" : "", list);
}

LodeHierarchy *lode_hierarchy_parse(const char *text, GError **error)
{
	if (find_preset(text) == NULL &&
		(strchr(text, '/') != NULL || g_file_test(text, G_FILE_TEST_IS_REGULAR)))
		return read_file(text, error);
	return lode_hierarchy_parse_words(text, error);
}

LodeHierarchy *lode_hierarchy_parse_words(const char *text, GError **error)
{
	const Preset *preset = find_preset(text);

	if (preset != NULL)
		return read_preset(preset, text, error);
	if (strchr(text, '=') == NULL) {
		refuse_word(text, error);
		return NULL;
	}
	return read_named(text, text, error);
}
