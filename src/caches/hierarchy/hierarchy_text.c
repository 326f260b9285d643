/* SPDX-License-Identifier: MIT */
/* Reads all parts of a description, then checks the order of the caches. */
#include "caches/hierarchy/hierarchy_text.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "caches/hierarchy/cache_text.h"

#include <string.h>

#define CACHE(self, i) (&g_array_index((self)->caches, LodeCache, i))

LodeHierarchy *lode_hierarchy_new(const char *name)
{
	LodeHierarchy *self = g_new0(LodeHierarchy, 1);

	self->name = g_strdup(name);
	self->caches = g_array_new(FALSE, TRUE, sizeof(LodeCache));
	self->n_cores = 1;
	return self;
}

static bool read_cores(LodeHierarchy *self, const char *value, const char *part, GError **error)
{
	uint64_t n;

	if (!lode_cache_read_number(value, &n) || n > LODE_HIERARCHY_MAX_CORES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s': cores are a number up to %d; 0 is one for each thread", part,
			LODE_HIERARCHY_MAX_CORES);
		return false;
	}
	self->n_cores = (uint32_t)n;
	return true;
}

static bool add_cache(LodeHierarchy *self, const LodeCache *cache, const char *part, GError **error)
{
	if (self->caches->len == LODE_HIERARCHY_MAX_CACHES) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "'%s': more than %d caches", part,
			LODE_HIERARCHY_MAX_CACHES);
		return false;
	}
	for (guint i = 0; i < self->caches->len; i++) {
		const LodeCache *other = CACHE(self, i);

		if (other->is_tlb != cache->is_tlb || other->level != cache->level ||
			(other->holds & cache->holds) == 0)
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "'%s': the same place as '%s'",
			part, other->name);
		return false;
	}
	g_array_append_val(self->caches, *cache);
	return true;
}

static bool read_part(LodeHierarchy *self, const char *part, GError **error)
{
	const char *equals = strchr(part, '=');
	g_autofree char *name = equals != NULL ? g_strndup(part, (gsize)(equals - part)) : NULL;
	LodeCache cache;

	if (equals == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s': a part of a hierarchy is NAME=SIZE:WAYS:LINE or cores=N", part);
		return false;
	}
	if (strcmp(name, "cores") == 0)
		return read_cores(self, equals + 1, part, error);
	return lode_cache_read_text(&cache, name, equals + 1, part, error) &&
	       add_cache(self, &cache, part, error);
}

static bool read_line(LodeHierarchy *self, char *line, GError **error)
{
	g_auto(GStrv) parts = NULL;

	line[strcspn(line, "#")] = '\0';
	parts = g_strsplit(line, ",", -1);
	for (char **part = parts; *part != NULL; part++) {
		g_strstrip(*part);
		if (**part != '\0' && !read_part(self, *part, error))
			return false;
	}
	return true;
}

LODE_ORDER(
	by_place, LodeCache, LODE_ASCENDING(is_tlb), LODE_ASCENDING(level), LODE_ASCENDING(holds))

/* The kinds of reference that the caches of a level hold together. */
static unsigned held(const LodeHierarchy *self, bool is_tlb, unsigned level)
{
	unsigned holds = 0;

	for (guint i = 0; i < self->caches->len; i++) {
		if (CACHE(self, i)->is_tlb == is_tlb && CACHE(self, i)->level == level)
			holds |= CACHE(self, i)->holds;
	}
	return holds;
}

/* References reach a level through all those before it; what no cache of the first level
 * holds does not reach the later ones either. */
static bool check_levels(LodeHierarchy *self, GError **error)
{
	for (guint i = 0; i < self->caches->len; i++) {
		LodeCache *cache = CACHE(self, i);
		unsigned seen = held(self, cache->is_tlb, 1);

		for (unsigned level = 1; level < cache->level; level++) {
			if (held(self, cache->is_tlb, level) == 0)
				seen = 0;
		}
		if ((cache->holds & seen) == 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"'%s': a level in front of it is missing", cache->name);
			return false;
		}
		cache->holds &= (uint8_t)seen;
	}
	return true;
}

/* Caches between which lines are kept coherent. */
static bool is_coherent(const LodeCache *cache)
{
	return !cache->is_tlb && !cache->is_shared && (cache->holds & LODE_CACHE_DATA) != 0;
}

static bool check_sharing(const LodeHierarchy *self, GError **error)
{
	const LodeCache *first = NULL, *shared = NULL;

	for (guint i = 0; i < self->caches->len; i++) {
		const LodeCache *cache = CACHE(self, i);

		if (cache->is_shared && shared == NULL)
			shared = cache;
		if (!cache->is_tlb && !cache->is_shared && shared != NULL &&
			shared->level < cache->level) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"'%s': a private cache after the shared '%s'", cache->name,
				shared->name);
			return false;
		}
		if (!is_coherent(cache))
			continue;
		if (first != NULL && first->line_bytes != cache->line_bytes) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"'%s': of several cores, the private caches of data have lines of "
				"one size, and '%s' has %u bytes",
				cache->name, first->name, first->line_bytes);
			return false;
		}
		first = cache;
	}
	return true;
}

bool lode_hierarchy_read_text(LodeHierarchy *self, const char *text, GError **error)
{
	g_auto(GStrv) lines = NULL;

	if (strlen(text) > LODE_HIERARCHY_MAX_TEXT) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"the description is longer than %d bytes", LODE_HIERARCHY_MAX_TEXT);
		return false;
	}
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line != NULL; line++) {
		if (!read_line(self, *line, error))
			return false;
	}
	if (self->caches->len == 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"no cache is described: NAME=SIZE:WAYS:LINE, as in d1=32K:8:64");
		return false;
	}
	g_array_sort(self->caches, by_place);
	return check_levels(self, error) && (self->n_cores == 1 || check_sharing(self, error));
}
