/* SPDX-License-Identifier: MIT */
#include "caches/counted_caches.h"

#include "base/error.h"
#include "base/text/byte_size.h"

static const LodeCache *find(
	const LodeHierarchy *hierarchy, bool is_tlb, uint8_t level, unsigned holds)
{
	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
		if (cache->is_tlb == is_tlb && cache->level == level &&
			(cache->holds & holds) == holds)
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

/* It has no sets where there is none. */
static bool read_optional(LodeLruShape *out_shape, const LodeCache *cache, GError **error)
{
	*out_shape = (LodeLruShape){0};
	return cache == NULL || read_shape(out_shape, cache, cache->name, error);
}

bool lode_counted_caches_init(
	LodeCountedCaches *self, const LodeHierarchy *hierarchy, GError **error)
{
	uint8_t last = last_level(hierarchy);
	const LodeCache *instructions = find(hierarchy, false, 1, LODE_CACHE_INSTRUCTIONS);
	const LodeCache *data = find(hierarchy, false, 1, LODE_CACHE_DATA);
	const LodeCache *both = find(
		hierarchy, false, last, LODE_CACHE_INSTRUCTIONS | LODE_CACHE_DATA);

	const LodeCache *second = last > 2 ? find(hierarchy, false, 2,
						     LODE_CACHE_INSTRUCTIONS | LODE_CACHE_DATA)
	                                   : NULL;

	if (instructions == data)
		instructions = data = NULL; /* one for both, or none */
	return read_shape(&self->first_instructions, instructions,
		       "first-level cache for instructions alone", error) &&
	       read_shape(&self->first_data, data, "first-level cache for data alone", error) &&
	       read_shape(&self->last, last > 1 ? both : NULL,
		       "last level for instructions and data", error) &&
	       read_optional(&self->second, second, error) &&
	       read_optional(&self->pages, find(hierarchy, true, 1, LODE_CACHE_DATA), error) &&
	       read_optional(&self->second_pages, find(hierarchy, true, 2, LODE_CACHE_DATA), error);
}

char *lode_counted_caches_argument(const LodeCountedCaches *self)
{
	const LodeLruShape *shapes[] = {&self->first_instructions, &self->first_data, &self->last,
		&self->second, &self->pages, &self->second_pages};
	bool has_more = self->second.n_sets + self->pages.n_sets + self->second_pages.n_sets > 0;
	GString *out = g_string_new("caches=");

	for (size_t i = 0; i < (has_more ? G_N_ELEMENTS(shapes) : 3); i++)
		g_string_append_printf(out, "%s%" G_GUINT64_FORMAT ":%u:%u", i > 0 ? "+" : "",
			shapes[i]->n_sets, (unsigned)shapes[i]->n_ways,
			(unsigned)shapes[i]->line_bytes);
	return g_string_free(out, FALSE);
}

bool lode_counted_caches_parse(LodeCountedCaches *self, const char *text)
{
	*self = (LodeCountedCaches){0};
	return lode_lru_shape_parse(&text, &self->first_instructions) &&
	       lode_lru_shape_parse(&text, &self->first_data) &&
	       lode_lru_shape_parse(&text, &self->last) &&
	       (*text == '\0' ||
		       (lode_lru_shape_parse(&text, &self->second) &&
			       lode_lru_shape_parse(&text, &self->pages) &&
			       lode_lru_shape_parse(&text, &self->second_pages) && *text == '\0'));
}

static void append_cache(GString *out, const char *name, const LodeLruShape *shape)
{
	if (shape->n_sets == 0)
		return;
	g_string_append_printf(out, "%s%s=", out->len > 0 ? "," : "", name);
	lode_byte_size_append(out, shape->n_sets * shape->n_ways * shape->line_bytes);
	g_string_append_printf(out, ":%u:%u", (unsigned)shape->n_ways, (unsigned)shape->line_bytes);
}

static void append_tlb(GString *out, const char *name, const LodeLruShape *shape)
{
	if (shape->n_sets == 0)
		return;
	g_string_append_printf(out, ",%s=%" G_GUINT64_FORMAT ":%u:", name,
		shape->n_sets * shape->n_ways, (unsigned)shape->n_ways);
	lode_byte_size_append(out, shape->line_bytes);
}

char *lode_counted_caches_to_text(const LodeCountedCaches *self)
{
	GString *out = g_string_new(NULL);

	append_cache(out, "i1", &self->first_instructions);
	append_cache(out, "d1", &self->first_data);
	append_cache(out, "l2", &self->second);
	append_cache(out, self->second.n_sets != 0 ? "l3" : "l2", &self->last);
	append_tlb(out, "dtlb", &self->pages);
	append_tlb(out, "dtlb2", &self->second_pages);
	return g_string_free(out, FALSE);
}
