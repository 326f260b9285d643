/* SPDX-License-Identifier: MIT */
/* Any bytes as a description of caches: an error, or what comes back the same as text. */
#include "caches/hierarchy/hierarchy_text.h"
#include "fuzz_target.h"

#include <string.h>

static void check_caches(const LodeHierarchy *hierarchy)
{
	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);
		uint64_t n_lines = cache->n_sets * cache->n_ways;

		if (n_lines == 0 || n_lines > LODE_CACHE_MAX_LINES || cache->n_ways == 0 ||
			cache->n_ways > LODE_CACHE_MAX_WAYS ||
			(cache->n_sets & (cache->n_sets - 1)) != 0 ||
			cache->size_bytes != n_lines * cache->line_bytes || cache->holds == 0)
			g_error("a cache out of bounds");
	}
}

/* By what stands behind lode_hierarchy_parse(), so that no file of some name is opened. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_autoptr(LodeHierarchy) hierarchy = lode_hierarchy_new("input");
	g_autoptr(LodeHierarchy) again = lode_hierarchy_new("again");
	g_autofree char *out = NULL, *out_again = NULL;
	g_autoptr(GError) error = NULL;

	if (!lode_hierarchy_read_text(hierarchy, text, &error)) {
		if (error == NULL)
			g_error("a failure without an error");
		return 0;
	}
	check_caches(hierarchy);
	out = lode_hierarchy_to_text(hierarchy);
	if (!lode_hierarchy_read_text(again, out, &error))
		g_error("%s: %s", out, error->message);
	out_again = lode_hierarchy_to_text(again);
	if (strcmp(out, out_again) != 0)
		g_error("'%s' became '%s'", out, out_again);
	return 0;
}
