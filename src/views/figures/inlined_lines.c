/* SPDX-License-Identifier: MIT */
#include "views/figures/inlined_lines.h"

#include "model/code.h"
#include "views/form/function_name.h"

enum { MAX_LINES = 4 };

static const LodeInlinedLine *line_at(const GArray *chain, guint i)
{
	return &g_array_index(chain, LodeInlinedLine, i);
}

static void append_line(GString *out, const LodeInlinedLine *line, const LodeTerminal *terminal)
{
	g_autofree char *name = terminal->has_full_names ? g_strdup(line->function)
	                                                 : lode_function_name_bare(line->function);

	g_string_append(out, name);
	if (line->location->file == NULL || line->location->line == 0)
		return;
	g_autofree char *base = g_path_get_basename(line->location->file);
	g_string_append_printf(out, " %s:%u", base, line->location->line);
}

void lode_inlined_lines_append(
	GString *out, const GArray *chain, guint first, const LodeTerminal *terminal)
{
	bool is_cut = chain->len - first > MAX_LINES && !terminal->has_full_names;
	bool is_gap = false;

	for (guint i = first; i < chain->len; i++) {
		const LodeInlinedLine *line = line_at(chain, i);
		if (is_cut && i > first && i + 1 < chain->len && !line->is_own) {
			is_gap = true;
			continue;
		}
		if (i > first)
			g_string_append(out, " → ");
		if (is_gap)
			g_string_append(out, "… → ");
		is_gap = false;
		append_line(out, line, terminal);
	}
}

void lode_inlined_lines_json(LodeJsonStream *json, const GArray *chain, bool is_brief)
{
	lode_json_begin(json, '[');
	for (guint i = 0; i < chain->len && chain->len > 1; i++) {
		const LodeInlinedLine *line = line_at(chain, i);
		lode_json_begin(json, '{');
		if (is_brief) {
			g_autofree char *brief = lode_function_name_short(line->function);
			lode_json_member_string(json, "function", brief);
		} else {
			lode_function_name_json(json, "function", line->function);
		}
		lode_json_member_string(json, "file", line->location->file);
		lode_json_member_number(json, "line", line->location->line);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}
