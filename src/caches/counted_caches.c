/* SPDX-License-Identifier: MIT */
#include "caches/counted_caches.h"

#include "base/error.h"
#include "base/text/byte_size.h"

static const LodeCache *find(const LodeHierarchy *hierarchy, uint8_t level, unsigned holds)
{
	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
		if (!cache->is_tlb && cache->level == level && (cache->holds & holds) == holds)
			return cache;
	}
	return NULL;
}

static uint8_t last_level(const LodeHierarchy *hierarchy)
{
	uint8_t last = 0;

	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
		if (!cache->is_tlb)
			last = MAX(last, cache->level);
	}
	return last;
}

static bool read_shape(
	LodeLruShape *out_shape, const LodeCache *cache, const char *what, GError **error)
{
	bool is_plain = cache != NULL && cache->replacement == LODE_REPLACEMENT_LRU &&
	                cache->prefetch == LODE_PREFETCH_NONE && !cache->is_no_allocate;

	if (is_plain) {
		*out_shape = (LodeLruShape){cache->n_sets, cache->n_ways, cache->line_bytes};
		return true;
	}
	if (cache == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"no %s; counting simulates a first level for instructions, one for data "
			"and a last level for both, such as cachegrind",
			what);
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"%s: counting simulates LRU caches without options; 'lode run --trace' "
			"simulates others",
			cache->name);
	return false;
}

bool lode_counted_caches_init(
	LodeCountedCaches *self, const LodeHierarchy *hierarchy, GError **error)
{
	uint8_t last = last_level(hierarchy);
	const LodeCache *instructions = find(hierarchy, 1, LODE_CACHE_INSTRUCTIONS);
	const LodeCache *data = find(hierarchy, 1, LODE_CACHE_DATA);
	const LodeCache *both = find(hierarchy, last, LODE_CACHE_INSTRUCTIONS | LODE_CACHE_DATA);

	if (instructions == data)
		instructions = data = NULL; /* one for both, or none */
	return read_shape(&self->first_instructions, instructions,
		       "first-level cache for instructions alone", error) &&
	       read_shape(&self->first_data, data, "first-level cache for data alone", error) &&
	       read_shape(&self->last, last > 1 ? both : NULL,
		       "last level for instructions and data", error);
}

static char *text_of(const LodeLruShape *shape)
{
	return g_strdup_printf("%" G_GUINT64_FORMAT ":%u:%u", shape->n_sets,
		(unsigned)shape->n_ways, (unsigned)shape->line_bytes);
}

char *lode_counted_caches_argument(const LodeCountedCaches *self)
{
	g_autofree char *instructions = text_of(&self->first_instructions);
	g_autofree char *data = text_of(&self->first_data);
	g_autofree char *last = text_of(&self->last);

	return g_strdup_printf("caches=%s+%s+%s", instructions, data, last);
}

bool lode_counted_caches_parse(LodeCountedCaches *self, const char *text)
{
	return lode_lru_shape_parse(&text, &self->first_instructions) &&
	       lode_lru_shape_parse(&text, &self->first_data) &&
	       lode_lru_shape_parse(&text, &self->last) && *text == '\0';
}

static void append_cache(GString *out, const char *name, const LodeLruShape *shape)
{
	g_string_append_printf(out, "%s%s=", out->len > 0 ? "," : "", name);
	lode_byte_size_append(out, shape->n_sets * shape->n_ways * shape->line_bytes);
	g_string_append_printf(out, ":%u:%u", (unsigned)shape->n_ways, (unsigned)shape->line_bytes);
}

char *lode_counted_caches_to_text(const LodeCountedCaches *self)
{
	GString *out = g_string_new(NULL);

	append_cache(out, "i1", &self->first_instructions);
	append_cache(out, "d1", &self->first_data);
	append_cache(out, "l2", &self->last);
	return g_string_free(out, FALSE);
}
