/* SPDX-License-Identifier: MIT */
#include "views/pictures/cache_plots.h"

#include "base/text/number_format.h"
#include "caches/replay_times.h"
#include "views/plot/cairo_library.h"
#include "views/plot/curve_sheet.h"
#include "views/plot/plot_axis.h"

enum {
	HEIGHT = 500,
	LEFT = LODE_CURVE_SHEET_LEFT,
	TOP = LODE_PLOT_TITLES_HEIGHT + 30,
	PANEL_WIDTH = LODE_CURVE_SHEET_PANEL_WIDTH,
	PANEL_HEIGHT = HEIGHT - TOP - LODE_CURVE_SHEET_BOTTOM,
	PANEL_BOTTOM = TOP + PANEL_HEIGHT,
	LEGEND_OFFSET = 6,
	MAX_SERIES = 6, /* of which colours differ */
	SIZE_STEP = 4,  /* bins of a curve from line to line */
};

static const double million = 1e6;

/* A cache, or a size of a curve. */
typedef struct {
	size_t hierarchy, cache, distance;
	unsigned bin;
	bool is_size;
} Series;

typedef struct {
	LodeCurveSheet sheet;
	Series series[MAX_SERIES];
	GPtrArray *names; /* char *, of the series */
	LodePlotScale x, y;
} Plot;

static void add_series(Plot *self, const Series *series, char *name)
{
	if (self->names->len == MAX_SERIES) {
		g_free(name);
		return;
	}
	self->series[self->names->len] = *series;
	g_ptr_array_add(self->names, name);
}

static void add_caches(Plot *self)
{
	const LodeCacheResults *results = self->sheet.results;

	for (size_t i = 0; i < results->n_hierarchies; i++) {
		const GArray *caches = results->hierarchies[i]->caches;
		for (guint j = 0; j < caches->len; j++) {
			const Series series = {.hierarchy = i, .cache = j};
			const char *name = g_array_index(caches, LodeCache, j).name;
			add_series(self, &series,
				results->n_hierarchies > 1 ? g_strdup_printf("%zu %s", i + 1, name)
							   : g_strdup(name));
		}
	}
}

/* From the smallest size on, up to the first that all fits into. */
static void add_sizes(Plot *self)
{
	const GPtrArray *curves = self->sheet.results->replay->curves;
	char size[LODE_NUMBER_SIZE];

	for (guint i = 0; i < curves->len; i++) {
		const LodeMissCurve *curve = g_ptr_array_index(curves, i);
		for (unsigned bin = 0; bin < curve->n_bins + SIZE_STEP; bin += SIZE_STEP) {
			const Series series = {.distance = i, .bin = bin, .is_size = true};
			lode_number_format_bytes((UINT64_C(1) << bin) * curve->line_bytes, size);
			add_series(self, &series,
				g_strdup_printf(
					"%s, %s", lode_miss_curve_holds_text(curve->holds), size));
		}
	}
}

/* Not by a cache's own accesses: those that few come to would be all that is to be seen. */
static double share_of(const Plot *self, const Series *series, guint time)
{
	const LodeReplayTimes *times = self->sheet.results->replay->times;
	uint64_t n_references = lode_replay_times_at(times, time)->n_references, misses = 0;

	if (series->is_size) {
		misses = lode_replay_reuses_misses(
			lode_replay_times_reuses(times, time, series->distance), series->bin);
	} else {
		const LodeCacheCounts *counts = lode_replay_times_counts(
			times, time, series->hierarchy, series->cache);
		misses = lode_cache_counts_sum(counts->misses);
	}
	return n_references > 0 ? (double)misses / (double)n_references : 0;
}

static void choose_scales(Plot *self)
{
	const LodeReplayTimes *times = self->sheet.results->replay->times;
	guint n = lode_replay_times_n(times);
	double first = 0, end = 0, high = 0;

	for (guint i = 0; i < n; i++) {
		const LodeReplayTime *time = lode_replay_times_at(times, i);
		first = i == 0 ? (double)time->first_reference : first;
		end = (double)time->first_reference + (double)time->n_references;
		for (guint j = 0; j < self->names->len; j++)
			high = MAX(high, share_of(self, &self->series[j], i));
	}
	self->x = lode_plot_scale(first / million, end / million, false);
	self->x.from = LEFT;
	self->x.to = LEFT + PANEL_WIDTH;
	self->y = lode_plot_scale(0, high > 0 ? high * 1.06 : 0.01, false);
	self->y.from = PANEL_BOTTOM;
	self->y.to = TOP;
}

static void draw_titles(const Plot *self)
{
	const LodeCacheResults *results = self->sheet.results;
	const LodePlotBox legend = {LEFT, LODE_PLOT_TITLES_HEIGHT + LEGEND_OFFSET, PANEL_WIDTH, 0};
	const LodePlotBox sheet = {LEFT, 0, PANEL_WIDTH, HEIGHT};
	g_autofree char *facts = g_strdup_printf("misses over time · %s references%s",
		LODE_COUNT_TEXT(results->replay->n_references),
		results->replay->damage != NULL ? " · the file is damaged: these are not all" : "");

	lode_plot_titles(self->sheet.cairo, &sheet,
		results->command != NULL ? results->command : results->path, facts);
	lode_plot_legend(self->sheet.cairo, &legend, (const char *const *)self->names->pdata,
		self->names->len);
}

static void draw_axes(const Plot *self)
{
	const LodePlotAxis time = {
		.scale = &self->x,
		.title = "references, millions",
		.n_ticks = 10,
		.factor = 1,
		.at = PANEL_BOTTOM,
		.grid = PANEL_HEIGHT,
	};
	const LodePlotAxis misses = {
		.scale = &self->y,
		.title = "misses per 1,000 references",
		.n_ticks = 8,
		.factor = 1000,
		.is_vertical = true,
		.at = LEFT,
		.grid = PANEL_WIDTH,
	};

	lode_plot_axis_draw(self->sheet.cairo, &time);
	lode_plot_axis_draw(self->sheet.cairo, &misses);
	lode_curve_sheet_frame(&self->sheet);
}

/* A stretch has one value. */
static void draw_series(const Plot *self, guint number)
{
	const LodeReplayTimes *times = self->sheet.results->replay->times;
	guint n = lode_replay_times_n(times);

	lode_curve_sheet_set_colour(&self->sheet, number);
	lode_cairo.set_line_width(self->sheet.cairo, 1.6);
	lode_cairo.set_line_join(self->sheet.cairo, CAIRO_LINE_JOIN_ROUND);
	for (guint i = 0; i < n; i++) {
		const LodeReplayTime *time = lode_replay_times_at(times, i);
		double from = (double)time->first_reference / million;
		double to = from + (double)time->n_references / million;
		double y = lode_plot_scale_at(&self->y, share_of(self, &self->series[number], i));
		lode_cairo.line_to(self->sheet.cairo, lode_plot_scale_at(&self->x, from), y);
		lode_cairo.line_to(self->sheet.cairo, lode_plot_scale_at(&self->x, to), y);
	}
	lode_cairo.stroke(self->sheet.cairo);
}

bool lode_times_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error)
{
	g_autoptr(LodePlotCanvas)
		canvas = lode_plot_canvas_new(format, LODE_CURVE_SHEET_WIDTH, HEIGHT, out, error);
	if (canvas == NULL)
		return false;
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	Plot plot = {.sheet = {results, lode_plot_canvas_cairo(canvas), TOP, PANEL_HEIGHT},
		.names = names};

	if (results->n_hierarchies > 0)
		add_caches(&plot);
	else
		add_sizes(&plot);
	choose_scales(&plot);
	draw_titles(&plot);
	draw_axes(&plot);
	for (guint i = 0; i < names->len; i++)
		draw_series(&plot, i);
	return lode_plot_canvas_finish(canvas, error);
}
