/* SPDX-License-Identifier: MIT */
#include "views/plot/curve_sheet.h"

#include "base/text/number_format.h"
#include "views/plot/cairo_library.h"
#include "views/plot/plot_axis.h"

enum { LEGEND_OFFSET = 6 };

unsigned lode_curve_sheet_n_curves(const LodeCurveSheet *self)
{
	const LodeTraceReplay *replay = self->results->replay;
	bool has_threads = self->has_threads && replay->thread_curves != NULL;

	return replay->curves->len + (has_threads ? replay->thread_curves->len : 0);
}

const LodeMissCurve *lode_curve_sheet_curve(const LodeCurveSheet *self, guint index)
{
	const LodeTraceReplay *replay = self->results->replay;

	return index < replay->curves->len
	               ? g_ptr_array_index(replay->curves, index)
	               : g_ptr_array_index(replay->thread_curves, index - replay->curves->len);
}

void lode_curve_sheet_set_colour(const LodeCurveSheet *self, guint index)
{
	LodePlotColour colour = lode_plot_series_colour(index);

	lode_cairo.set_source_rgb(self->cairo, colour.red, colour.green, colour.blue);
}

/* "data, lines of 64 B" of each curve. */
static char **curve_names(const LodeCurveSheet *self)
{
	unsigned n = lode_curve_sheet_n_curves(self);
	char **names = g_new0(char *, n + 1);
	char size[LODE_NUMBER_SIZE];

	for (unsigned i = 0; i < n; i++) {
		const LodeMissCurve *curve = lode_curve_sheet_curve(self, i);
		const char *holds = lode_miss_curve_holds_text(curve->holds);
		lode_number_format_bytes(curve->line_bytes, size);
		names[i] = curve->thread == LODE_MISS_CURVE_ALL
		                   ? g_strdup_printf("%s, lines of %s", holds, size)
		                   : g_strdup_printf("%s, thread %u", holds, curve->thread);
	}
	return names;
}

/* "25,000,000 references · footprint of data 178 KiB". */
static char *facts_of(const LodeCacheResults *results)
{
	const LodeTraceReplay *replay = results->replay;
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%s references", LODE_COUNT_TEXT(replay->n_references));
	for (guint i = 0; i < replay->curves->len; i++) {
		const LodeMissCurve *curve = g_ptr_array_index(replay->curves, i);
		g_string_append_printf(text, " · footprint of %s %s",
			lode_miss_curve_holds_text(curve->holds),
			LODE_BYTES_TEXT(curve->n_lines * curve->line_bytes));
	}
	if (replay->damage != NULL)
		g_string_append(text, " · the file is damaged: these are not all");
	return g_string_free(text, FALSE);
}

void lode_curve_sheet_titles(const LodeCurveSheet *self, const char *remark)
{
	const LodeCacheResults *results = self->results;
	const LodePlotBox legend = {LODE_CURVE_SHEET_LEFT, LODE_PLOT_TITLES_HEIGHT + LEGEND_OFFSET,
		LODE_CURVE_SHEET_PANEL_WIDTH, 0};
	const LodePlotBox sheet = {LODE_CURVE_SHEET_LEFT, 0, LODE_CURVE_SHEET_PANEL_WIDTH,
		self->top + self->height + LODE_CURVE_SHEET_BOTTOM};
	g_auto(GStrv) names = curve_names(self);
	g_autofree char *facts = facts_of(results);
	g_autofree char *all = g_strconcat(facts, remark, NULL);

	lode_plot_titles(self->cairo, &sheet,
		results->command != NULL ? results->command : results->path, all);
	lode_plot_legend(
		self->cairo, &legend, (const char *const *)names, lode_curve_sheet_n_curves(self));
}

void lode_curve_sheet_axis(
	const LodeCurveSheet *self, const LodePlotScale *scale, const char *title)
{
	const LodePlotAxis axis = {
		.scale = scale,
		.title = title,
		.n_ticks = 8,
		.factor = 100,
		.is_vertical = true,
		.at = LODE_CURVE_SHEET_LEFT,
		.grid = LODE_CURVE_SHEET_PANEL_WIDTH,
	};

	lode_plot_axis_draw(self->cairo, &axis);
}

void lode_curve_sheet_frame(const LodeCurveSheet *self)
{
	const LodePlotBox panel = {
		LODE_CURVE_SHEET_LEFT, self->top, LODE_CURVE_SHEET_PANEL_WIDTH, self->height};

	lode_plot_frame(self->cairo, &panel);
}
