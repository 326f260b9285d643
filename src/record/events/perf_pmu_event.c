/* SPDX-License-Identifier: MIT */
#include "record/events/perf_pmu_event.h"

#include "base/error.h"

#include <stdint.h>
#include <string.h>

typedef struct {
	const char *folder, *pmu;
	struct perf_event_attr *attr;
	bool is_alias; /* within events/NAME, which names no further events */
} Reader;

static char *read_file(const Reader *self, const char *folder, const char *name)
{
	g_autofree char *path = g_build_filename(self->folder, folder, name, NULL);
	char *text = NULL;

	/* No "..", and no way to another file. */
	if (*name == '\0' || strchr(name, '/') != NULL || name[0] == '.')
		return NULL;
	return g_file_get_contents(path, &text, NULL, NULL) ? g_strstrip(text) : NULL;
}

/* The word that "config", "config1", "config2" name; NULL for others. */
static __u64 *word_of(const Reader *self, const char *name)
{
	if (strcmp(name, "config") == 0)
		return &self->attr->config;
	if (strcmp(name, "config1") == 0)
		return &self->attr->config1;
	return strcmp(name, "config2") == 0 ? &self->attr->config2 : NULL;
}

static bool refuse_format(const Reader *self, const char *name, GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s/format/%s: not a list of bits",
		self->folder, name);
	return false;
}

/* Puts as many of the low bits of *value as "0-7" has there, and takes them off. */
static bool put_range(__u64 *word, const char *range, guint64 *value)
{
	char *end;
	guint64 first = g_ascii_strtoull(range, &end, 10);
	guint64 last = *end == '-' ? g_ascii_strtoull(end + 1, &end, 10) : first;

	if (end == range || *end != '\0' || first > last || last > 63)
		return false;
	guint64 mask = G_MAXUINT64 >> (63 - (last - first));
	*word = (*word & ~(mask << first)) | (*value & mask) << first;
	*value = last - first == 63 ? 0 : *value >> (last - first + 1);
	return true;
}

/* `format` is "config1:0-15,32". */
static bool put_value(
	const Reader *self, const char *name, char *format, guint64 value, GError **error)
{
	char *colon = strchr(format, ':');
	guint64 rest = value;

	if (colon == NULL)
		return refuse_format(self, name, error);
	*colon = '\0';
	__u64 *word = word_of(self, format);
	g_auto(GStrv) ranges = g_strsplit(colon + 1, ",", -1);
	for (size_t i = 0; ranges[i] != NULL; i++)
		if (word == NULL || !put_range(word, ranges[i], &rest))
			return refuse_format(self, name, error);
	if (rest == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
		"%s/%s=%#" G_GINT64_MODIFIER "x/: the value is too great", self->pmu, name, value);
	return false;
}

static bool read_terms(const Reader *self, const char *text, GError **error);

/* A term that is not a field: an event of the PMU. */
static bool read_alias(const Reader *self, const char *name, GError **error)
{
	g_autofree char *terms = self->is_alias ? NULL : read_file(self, "events", name);
	Reader inner = *self;

	if (terms == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"%s/%s/: there is neither a field nor an event '%s' in '%s'", self->pmu,
			name, name, self->folder);
		return false;
	}
	inner.is_alias = true;
	return read_terms(&inner, terms, error);
}

/* "ldlat=30", "edge" (which is 1), "mem-loads". */
static bool read_term(const Reader *self, const char *term, GError **error)
{
	const char *equals = strchr(term, '=');
	g_autofree char *name = equals != NULL ? g_strndup(term, (gsize)(equals - term))
	                                       : g_strdup(term);
	g_autofree char *format = read_file(self, "format", name);
	__u64 *word = word_of(self, name);
	char *end = NULL;

	if (format == NULL && (word == NULL || equals == NULL))
		return read_alias(self, name, error);
	guint64 value = equals != NULL ? g_ascii_strtoull(equals + 1, &end, 0) : 1;
	if (equals != NULL && (end == equals + 1 || *end != '\0')) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "%s/%s/: '%s' is not a number",
			self->pmu, term, equals + 1);
		return false;
	}
	if (format != NULL)
		return put_value(self, name, format, value, error);
	*word = value;
	return true;
}

static bool read_terms(const Reader *self, const char *text, GError **error)
{
	g_auto(GStrv) terms = g_strsplit(text, ",", -1);

	for (size_t i = 0; terms[i] != NULL; i++)
		if (*terms[i] != '\0' && !read_term(self, terms[i], error))
			return false;
	return true;
}

bool lode_perf_pmu_event_read(
	const char *devices, const char *text, struct perf_event_attr *out_attr, GError **error)
{
	const char *slash = strchr(text, '/');
	g_autofree char *pmu = g_strndup(text, slash != NULL ? (gsize)(slash - text) : 0);
	g_autofree char *folder = g_build_filename(devices, pmu, NULL);
	struct perf_event_attr attr = {.exclude_hv = 1};
	const Reader reader = {.folder = folder, .pmu = pmu, .attr = &attr};
	g_autofree char *type = *pmu != '\0' && pmu[0] != '.' ? read_file(&reader, "", "type")
	                                                      : NULL;

	if (type == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"'%s': there is no PMU '%s' in '%s'", text, pmu, devices);
		return false;
	}
	attr.type = (uint32_t)g_ascii_strtoull(type, NULL, 10);
	g_autofree char *terms = g_strdup(slash + 1);
	if (g_str_has_suffix(terms, "/"))
		terms[strlen(terms) - 1] = '\0';
	if (!read_terms(&reader, terms, error))
		return false;
	*out_attr = attr;
	return true;
}
