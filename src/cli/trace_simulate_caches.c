/* SPDX-License-Identifier: MIT */
/* lode trace simulate: which caches. */
#include "base/error.h"
#include "caches/hierarchy_sweep.h"
#include "cli/option_parser.h"
#include "cli/trace_simulate.h"
#include "questions/simulated_caches.h"

static struct {
	char **caches, *quantum;
	gboolean classifies;
} given;

const GOptionEntry lode_trace_cache_options[] = {
	{"cache", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.caches,
		"caches to simulate: a preset, a file, or a description such as "
		"d1=32K:8:64,l2=1M:16:64, in which a size may be a range such as 8K..1M; may "
		"be repeated (default: host, this machine's own)",
		"HIERARCHY"},
	{"classify", 0, 0, G_OPTION_ARG_NONE, &given.classifies,
		"classify misses: compulsory, capacity, conflict, true or false sharing", NULL},
	{"quantum", 0, 0, G_OPTION_ARG_STRING, &given.quantum,
		"let threads take turns of N instructions each, instead of those in which they "
		"were recorded",
		"N"},
	G_OPTION_ENTRY_NULL,
};

bool lode_trace_caches_are_wanted(void)
{
	return given.caches != NULL || given.classifies;
}

bool lode_trace_caches_are_classified(void)
{
	return given.classifies;
}

bool lode_trace_caches_quantum(uint64_t *out_instructions, GError **error)
{
	*out_instructions = 0;
	if (!lode_option_count("--quantum", given.quantum, UINT32_MAX, out_instructions, error))
		return false;
	if (given.quantum == NULL || *out_instructions > 0)
		return true;
	return lode_option_refuse(error, "--quantum must not be 0");
}

static bool add_hierarchy(GPtrArray *hierarchies, const char *text, GError **error)
{
	LodeHierarchy *hierarchy = lode_hierarchy_parse(text, error);

	if (hierarchy != NULL)
		g_ptr_array_add(hierarchies, hierarchy);
	return hierarchy != NULL;
}

static bool add_sweep(GPtrArray *hierarchies, const char *text, GError **error)
{
	g_auto(GStrv) texts = lode_hierarchy_sweep_expand(text, error);

	for (size_t i = 0; texts != NULL && texts[i] != NULL; i++)
		if (!add_hierarchy(hierarchies, texts[i], error))
			return false;
	if (hierarchies->len <= LODE_SWEEP_MAX_HIERARCHIES)
		return texts != NULL;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "more than %d hierarchies",
		LODE_SWEEP_MAX_HIERARCHIES);
	return false;
}

static bool add_default(GPtrArray *hierarchies, char **out_note, GError **error)
{
	LodeHierarchy *hierarchy = lode_simulated_caches_default("--cache", out_note, error);

	if (hierarchy != NULL)
		g_ptr_array_add(hierarchies, hierarchy);
	return hierarchy != NULL;
}

GPtrArray *lode_trace_caches_read(char **out_note, GError **error)
{
	g_autoptr(GPtrArray)
		hierarchies = g_ptr_array_new_with_free_func((GDestroyNotify)lode_hierarchy_free);

	if (given.caches == NULL && !add_default(hierarchies, out_note, error))
		return NULL;
	for (size_t i = 0; given.caches != NULL && given.caches[i] != NULL; i++) {
		if (!add_sweep(hierarchies, given.caches[i], error)) {
			g_prefix_error(error, "--cache: ");
			return NULL;
		}
	}
	return g_steal_pointer(&hierarchies);
}
