/* SPDX-License-Identifier: MIT */
/* How pictures name curves. */
#include "views/plot/curve_names.h"

#include "base/number_format.h"
#include "views/memory_names.h"

char **lode_curve_names(const LodeCacheResults *results)
{
	const GPtrArray *curves = results->replay->curves;
	char **names = g_new0(char *, curves->len + 1);
	char size[LODE_ADDRESS_TEXT_SIZE];

	for (guint i = 0; i < curves->len; i++) {
		const LodeMissCurve *curve = g_ptr_array_index(curves, i);
		names[i] = g_strdup_printf("%s, lines of %s",
			lode_miss_curve_holds_text(curve->holds),
			lode_memory_size_text(curve->line_bytes, size));
	}
	return names;
}

const char *lode_curve_title(const LodeCacheResults *results)
{
	return results->command != NULL ? results->command : results->path;
}

char *lode_curve_facts(const LodeCacheResults *results)
{
	const LodeTraceReplay *replay = results->replay;
	char number[LODE_NUMBER_SIZE], size[LODE_ADDRESS_TEXT_SIZE];
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%s references",
		lode_number_format_count((double)replay->n_references, number));
	for (guint i = 0; i < replay->curves->len; i++) {
		const LodeMissCurve *curve = g_ptr_array_index(replay->curves, i);
		g_string_append_printf(text, " · footprint of %s %s",
			lode_miss_curve_holds_text(curve->holds),
			lode_memory_size_text(curve->n_lines * curve->line_bytes, size));
	}
	if (replay->damage != NULL)
		g_string_append(text, " · the file is damaged: these are not all");
	return g_string_free(text, FALSE);
}
