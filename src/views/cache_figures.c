/* SPDX-License-Identifier: MIT */
/* Figures of simulated caches. */
#include "views/cache_figures.h"

#include <math.h>
#include <string.h>

const char *const lode_cache_class_names[LODE_N_MISS_CLASSES] = {
	[LODE_MISS_COMPULSORY] = "compulsory",
	[LODE_MISS_CAPACITY] = "capacity",
	[LODE_MISS_CONFLICT] = "conflict",
	[LODE_MISS_TRUE_SHARING] = "true_sharing",
	[LODE_MISS_FALSE_SHARING] = "false_sharing",
};

static void clear_row(void *row)
{
	g_free(((LodeCacheRow *)row)->description);
}

/* What stands behind "d1=" in a text of parts between commas. */
static char *find_description(const char *text, const char *name)
{
	g_auto(GStrv) parts = g_strsplit_set(text, ",\n", -1);
	size_t n = strlen(name);

	for (size_t i = 0; parts[i] != NULL; i++)
		if (strncmp(parts[i], name, n) == 0 && parts[i][n] == '=')
			return g_strdup(parts[i] + n + 1);
	return g_strdup("");
}

static void add_rows(GArray *rows, const LodeCacheResults *results, size_t hierarchy)
{
	const GArray *caches = results->hierarchies[hierarchy]->caches;
	const LodeCacheCounts *counts = lode_cache_simulation_counts(
		results->replay->simulation, hierarchy);
	g_autofree char *text = lode_hierarchy_to_text(results->hierarchies[hierarchy]);

	for (guint i = 0; i < caches->len; i++) {
		const LodeCache *cache = &g_array_index(caches, LodeCache, i);
		LodeCacheRow row = {
			hierarchy, cache, &counts[i], find_description(text, cache->name)};
		g_array_append_val(rows, row);
	}
}

GArray *lode_cache_rows_new(const LodeCacheResults *results)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(LodeCacheRow));

	g_array_set_clear_func(rows, clear_row);
	for (size_t i = 0; i < results->n_hierarchies; i++)
		add_rows(rows, results, i);
	return rows;
}

static uint64_t sum_kinds(const uint64_t *kinds)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LODE_N_REFERENCE_KINDS; i++)
		sum += kinds[i];
	return sum;
}

uint64_t lode_cache_accesses(const LodeCacheCounts *counts)
{
	return sum_kinds(counts->accesses);
}

uint64_t lode_cache_misses(const LodeCacheCounts *counts)
{
	return sum_kinds(counts->misses);
}

double lode_cache_miss_ratio(const LodeCacheCounts *counts)
{
	uint64_t accesses = lode_cache_accesses(counts);

	return accesses > 0 ? (double)lode_cache_misses(counts) / (double)accesses : 0;
}

char *lode_cache_ratio_text(double ratio, char buffer[LODE_NUMBER_SIZE])
{
	char number[LODE_NUMBER_SIZE - 2];

	g_ascii_formatd(number, sizeof(number), "%.3f", 100 * ratio);
	g_snprintf(buffer, LODE_NUMBER_SIZE, "%s %%", number);
	return buffer;
}

double lode_cache_misses_per_1000(const LodeCacheCounts *counts, uint64_t n_instructions)
{
	if (n_instructions == 0)
		return (double)NAN;
	return 1000 * (double)lode_cache_misses(counts) / (double)n_instructions;
}
