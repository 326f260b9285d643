/* SPDX-License-Identifier: MIT */
/* lode memory --by A --by2 B: samples in groups. */
#include "analyses/memory/pivot.h"
#include "cli/memory_view.h"
#include "cli/option_parser.h"
#include "views/memory_pivot.h"

enum { DEFAULT_TOP = 20 }; /* on a screen; JSON and CSV have all */

static struct {
	char *by[LODE_PIVOT_MAX_LEVELS + 1];
} given;

const GOptionEntry lode_memory_pivot_options[] = {
	{"by", 0, 0, G_OPTION_ARG_STRING, &given.by[0],
		"group the samples by an attribute (type, function, line, page...), a "
		"--define, or any expression",
		"EXPRESSION"},
	{"by2", 0, 0, G_OPTION_ARG_STRING, &given.by[1], "then group each group by this",
		"EXPRESSION"},
	{"by3", 0, 0, G_OPTION_ARG_STRING, &given.by[2], "a third level of groups", "EXPRESSION"},
	{"by4", 0, 0, G_OPTION_ARG_STRING, &given.by[3], "a fourth level of groups", "EXPRESSION"},
	G_OPTION_ENTRY_NULL,
};

static bool is_wanted(void)
{
	for (size_t i = 0; i < LODE_PIVOT_MAX_LEVELS; i++)
		if (given.by[i] != NULL)
			return true;
	return false;
}

static const char *const *list_groups(void)
{
	return (const char *const *)given.by;
}

static bool read_levels(LodePivotOptions *pivot, GError **error)
{
	for (unsigned i = 0; i < LODE_PIVOT_MAX_LEVELS; i++) {
		if (given.by[i] == NULL)
			continue;
		if (i != pivot->n_levels) {
			g_autofree char *before = i > 1 ? g_strdup_printf("--by%u", i)
			                                : g_strdup("--by");
			return lode_option_refuse(
				error, "--by%u needs %s before it", i + 1, before);
		}
		pivot->by[pivot->n_levels++] = given.by[i];
	}
	return true;
}

static bool read_options(const LodeMemoryViewInput *input, LodePivotOptions *pivot, GError **error)
{
	uint32_t default_top = input->format == LODE_VIEW_TEXT ? DEFAULT_TOP : 0;
	int sort = input->sort != NULL ? lode_pivot_sort_from_text(input->sort)
	                               : LODE_PIVOT_SORT_WEIGHT;

	*pivot = (LodePivotOptions){.definitions = input->definitions};
	if (sort < 0)
		return lode_option_refuse(error,
			"--sort: '%s' is not weight, samples, loads, stores, latency or key",
			input->sort);
	if (!read_levels(pivot, error))
		return false;
	pivot->sort = (LodePivotSort)sort;
	pivot->top = input->has_top ? input->top : default_top;
	return true;
}

static bool write_view(const LodeMemoryViewInput *input, FILE *out, GError **error)
{
	LodePivotOptions pivot_options;

	if (!read_options(input, &pivot_options, error))
		return false;
	g_autoptr(LodePivot) pivot = lode_pivot_new(
		input->profile, input->samples, input->n_samples, &pivot_options, error);
	if (pivot == NULL)
		return false;
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, input->profile, input->samples, input->n_samples);
	LodeMemoryViewOptions view = {
		.format = input->format, .terminal = input->terminal, .notes = &notes};
	return lode_memory_pivot_write(input->profile, pivot, &view, out, error);
}

const LodeMemoryView lode_memory_view_pivot = {
	.option = "--by",
	.is_wanted = is_wanted,
	.write = write_view,
	.groups = list_groups,
};
