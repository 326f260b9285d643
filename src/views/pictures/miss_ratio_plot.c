/* SPDX-License-Identifier: MIT */
/* Miss ratio by cache size. */
#include "views/pictures/cache_plots.h"

#include "views/plot/cairo_library.h"
#include "views/plot/curve_sheet.h"
#include "views/plot/plot_axis.h"

#include <math.h>

enum {
	HEIGHT = 560,
	LEFT = LODE_CURVE_SHEET_LEFT,
	TOP = LODE_PLOT_TITLES_HEIGHT + 60,
	PANEL_WIDTH = LODE_CURVE_SHEET_PANEL_WIDTH,
	PANEL_HEIGHT = HEIGHT - TOP - LODE_CURVE_SHEET_BOTTOM,
	PANEL_BOTTOM = TOP + PANEL_HEIGHT,
	FEWEST_LINES = 16, /* of the smallest cache shown, where the footprint is larger by far */
	MAX_LABELLED = 12,
	LABEL_ROWS = 3,
	LABEL_STEP = 12,
	LABEL_GAP = 8,
	DOT_RADIUS = 4,
};

static const double full_turn = 2 * G_PI;

typedef struct {
	LodeCurveSheet sheet;
	LodePlotScale x, y;
} Plot;

static double size_of(const LodeMissCurve *curve, const LodeMissPoint *point)
{
	return (double)point->n_lines * curve->line_bytes;
}

static double first_size(const LodeMissCurve *curve)
{
	/* The footprint of all threads, also for a single one. */
	uint64_t n_lines = curve->points->len > 0 ? g_array_index(curve->points, LodeMissPoint,
							    curve->points->len - 1)
	                                                    .n_lines
	                                          : 0;
	bool is_large = n_lines >= FEWEST_LINES * FEWEST_LINES;

	return (double)(is_large ? FEWEST_LINES : 1) * curve->line_bytes;
}

double lode_miss_ratio_plot_dot(const LodeMissCurve *curve, const LodeCacheCounts *counts)
{
	uint64_t misses = 0;

	for (unsigned kind = 0; kind < LODE_N_REFERENCE_KINDS; kind++) {
		uint8_t holds = kind == LODE_REFERENCE_FETCH ? LODE_CACHE_INSTRUCTIONS
		                                             : LODE_CACHE_DATA;
		if ((curve->holds & holds) != 0)
			misses += counts->misses[kind];
	}
	return lode_miss_curve_ratio(curve, misses);
}

/* A curve is of one size of lines and some kinds of references: a cache of other lines, or without
 * one of the kinds, is not comparable. */
static bool is_on_curve(const LodeMissCurve *curve, const LodeCache *cache)
{
	return !cache->is_tlb && cache->line_bytes == curve->line_bytes &&
	       (cache->holds & curve->holds) == curve->holds;
}

/* Called for each cache that is not a TLB. */
typedef void (*CacheFunc)(Plot *self, const LodeCache *cache, const LodeCacheCounts *counts);

static void for_each_cache(Plot *self, CacheFunc func)
{
	const LodeCacheResults *results = self->sheet.results;

	for (size_t i = 0; i < results->n_hierarchies; i++) {
		const GArray *caches = results->hierarchies[i]->caches;
		const LodeCacheCounts *counts = lode_cache_simulation_counts(
			results->replay->simulation, i);

		for (guint c = 0; c < caches->len; c++) {
			const LodeCache *cache = &g_array_index(caches, LodeCache, c);
			if (!cache->is_tlb)
				func(self, cache, &counts[c]);
		}
	}
}

static void widen_by_cache(Plot *self, const LodeCache *cache, const LodeCacheCounts *counts)
{
	self->x.low = MIN(self->x.low, (double)cache->size_bytes);
	self->x.high = MAX(self->x.high, (double)cache->size_bytes);
	for (guint i = 0; i < self->sheet.results->replay->curves->len; i++)
		if (is_on_curve(lode_curve_sheet_curve(&self->sheet, i), cache))
			self->y.high = MAX(self->y.high,
				lode_miss_ratio_plot_dot(
					lode_curve_sheet_curve(&self->sheet, i), counts));
}

static void widen_by_curve(Plot *self, const LodeMissCurve *curve)
{
	double first = first_size(curve);

	for (guint i = 0; i < curve->points->len; i++) {
		const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);
		if (size_of(curve, point) < first)
			continue;
		self->x.low = MIN(self->x.low, size_of(curve, point));
		self->x.high = MAX(self->x.high, size_of(curve, point));
		self->y.high = MAX(self->y.high, lode_miss_curve_ratio(curve, point->misses));
	}
}

static void choose_scales(Plot *self)
{
	self->x = (LodePlotScale){.low = HUGE_VAL};
	for (guint i = 0; i < lode_curve_sheet_n_curves(&self->sheet); i++)
		widen_by_curve(self, lode_curve_sheet_curve(&self->sheet, i));
	for_each_cache(self, widen_by_cache);
	double low = isfinite(self->x.low) ? self->x.low : 1;
	self->x = lode_plot_scale(low, MAX(self->x.high, low) * 1.2, true);
	self->x.is_binary = true;
	self->x.from = LEFT;
	self->x.to = LEFT + PANEL_WIDTH;
	self->y = lode_plot_scale(0, self->y.high > 0 ? self->y.high * 1.06 : 0.01, false);
	self->y.from = PANEL_BOTTOM;
	self->y.to = TOP;
}

static void draw_axes(const Plot *self)
{
	const LodePlotAxis axis = {
		.scale = &self->x,
		.title = "size of a fully associative LRU cache, bytes",
		.n_ticks = 16,
		.factor = 1,
		.is_bytes = true,
		.at = PANEL_BOTTOM,
		.grid = PANEL_HEIGHT,
	};

	lode_plot_axis_draw(self->sheet.cairo, &axis);
	lode_curve_sheet_axis(&self->sheet, &self->y, "misses, % of the uses of lines");
	lode_curve_sheet_frame(&self->sheet);
}

/* Beyond the footprint only first uses miss, however large the cache: the curve goes on level. */
static void draw_curve(const Plot *self, guint index)
{
	const LodeMissCurve *curve = lode_curve_sheet_curve(&self->sheet, index);
	double y = PANEL_BOTTOM, first = first_size(curve);

	lode_curve_sheet_set_colour(&self->sheet, index);
	lode_cairo.set_line_width(self->sheet.cairo, 2);
	lode_cairo.set_line_join(self->sheet.cairo, CAIRO_LINE_JOIN_ROUND);
	for (guint i = 0; i < curve->points->len; i++) {
		const LodeMissPoint *point = &g_array_index(curve->points, LodeMissPoint, i);
		if (size_of(curve, point) < first)
			continue;
		y = lode_plot_scale_at(&self->y, lode_miss_curve_ratio(curve, point->misses));
		lode_cairo.line_to(
			self->sheet.cairo, lode_plot_scale_at(&self->x, size_of(curve, point)), y);
	}
	if (curve->points->len > 0)
		lode_cairo.line_to(self->sheet.cairo, LEFT + PANEL_WIDTH, y);
	lode_cairo.stroke(self->sheet.cairo);
}

static void draw_dots(Plot *self, const LodeCache *cache, const LodeCacheCounts *counts)
{
	double x = lode_plot_scale_at(&self->x, (double)cache->size_bytes);

	for (guint i = 0; i < self->sheet.results->replay->curves->len; i++) {
		const LodeMissCurve *curve = lode_curve_sheet_curve(&self->sheet, i);

		if (!is_on_curve(curve, cache))
			continue;
		double y = lode_plot_scale_at(&self->y, lode_miss_ratio_plot_dot(curve, counts));
		lode_cairo.new_path(self->sheet.cairo);
		lode_cairo.arc(self->sheet.cairo, x, y, DOT_RADIUS, 0, full_turn);
		lode_curve_sheet_set_colour(&self->sheet, i);
		lode_cairo.fill_preserve(self->sheet.cairo);
		lode_cairo.set_source_rgb(self->sheet.cairo, 1, 1, 1);
		lode_cairo.set_line_width(self->sheet.cairo, 1.2);
		lode_cairo.stroke(self->sheet.cairo);
	}
}

/* Caches of one size share a label: "i1, d1 32K". */
typedef struct {
	uint64_t size_bytes;
	GString *names;
} Mark;

static void clear_mark(void *mark)
{
	g_string_free(((Mark *)mark)->names, TRUE);
}

static bool has_name(const Mark *mark, const char *name)
{
	g_auto(GStrv) names = g_strsplit(mark->names->str, ", ", -1);

	return g_strv_contains((const char *const *)names, name);
}

static void add_mark(GArray *marks, const LodeCache *cache)
{
	guint at = 0;

	while (at < marks->len && g_array_index(marks, Mark, at).size_bytes < cache->size_bytes)
		at++;
	if (at < marks->len && g_array_index(marks, Mark, at).size_bytes == cache->size_bytes) {
		Mark *mark = &g_array_index(marks, Mark, at);
		if (!has_name(mark, cache->name))
			g_string_append_printf(mark->names, ", %s", cache->name);
		return;
	}
	Mark mark = {cache->size_bytes, g_string_new(cache->name)};
	g_array_insert_val(marks, at, mark);
}

static GArray *find_marks(const Plot *self)
{
	GArray *marks = g_array_new(FALSE, FALSE, sizeof(Mark));

	g_array_set_clear_func(marks, clear_mark);
	for (size_t i = 0; i < self->sheet.results->n_hierarchies; i++) {
		const GArray *caches = self->sheet.results->hierarchies[i]->caches;
		for (guint c = 0; c < caches->len; c++)
			if (!g_array_index(caches, LodeCache, c).is_tlb)
				add_mark(marks, &g_array_index(caches, LodeCache, c));
	}
	return marks;
}

/* Labels beside each other share a row; those that would touch go to the next one. */
static unsigned choose_row(double left, double right, double row_ends[LABEL_ROWS])
{
	unsigned row = 0;

	while (row + 1 < LABEL_ROWS && left < row_ends[row])
		row++;
	row_ends[row] = right + LABEL_GAP;
	return row;
}

static void draw_mark(const Plot *self, const Mark *mark, double row_ends[LABEL_ROWS])
{
	static const double dashes[] = {3, 3};
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.2, .anchor = LODE_PLOT_MIDDLE};
	double x = lode_plot_scale_at(&self->x, (double)mark->size_bytes);
	char size[LODE_PLOT_SIZE_TEXT];
	g_autofree char *label = g_strdup_printf(
		"%s %s", mark->names->str, lode_plot_size_text((double)mark->size_bytes, size));
	double half = lode_plot_text_width(self->sheet.cairo, &style, label) / 2;
	double middle = CLAMP(x, LEFT + half, LEFT + PANEL_WIDTH - half);
	unsigned row = choose_row(middle - half, middle + half, row_ends);

	lode_cairo.save(self->sheet.cairo);
	lode_cairo.set_dash(self->sheet.cairo, dashes, G_N_ELEMENTS(dashes), 0);
	lode_cairo.set_source_rgb(self->sheet.cairo, 0.4, 0.4, 0.4);
	lode_cairo.set_line_width(self->sheet.cairo, 0.9);
	lode_cairo.move_to(self->sheet.cairo, x, TOP - 3);
	lode_cairo.line_to(self->sheet.cairo, x, PANEL_BOTTOM);
	lode_cairo.stroke(self->sheet.cairo);
	lode_cairo.restore(self->sheet.cairo);
	lode_plot_text(self->sheet.cairo, middle, TOP - 9 - row * LABEL_STEP, &style, label);
}

/* A sweep's many sizes would only hide the curve: their dots are enough. */
static void draw_marks(const Plot *self)
{
	g_autoptr(GArray) marks = find_marks(self);
	double row_ends[LABEL_ROWS] = {0};

	if (marks->len > MAX_LABELLED)
		return;
	for (guint i = 0; i < marks->len; i++)
		draw_mark(self, &g_array_index(marks, Mark, i), row_ends);
}

static void draw(Plot *self)
{
	lode_curve_sheet_titles(&self->sheet, self->sheet.results->n_hierarchies > 0
						      ? " · dots: misses of the simulated caches"
						      : "");
	draw_axes(self);
	draw_marks(self);
	for (guint i = 0; i < lode_curve_sheet_n_curves(&self->sheet); i++)
		draw_curve(self, i);
	for_each_cache(self, draw_dots);
}

bool lode_miss_ratio_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error)
{
	g_autoptr(LodePlotCanvas)
		canvas = lode_plot_canvas_new(format, LODE_CURVE_SHEET_WIDTH, HEIGHT, out, error);
	if (canvas == NULL)
		return false;
	Plot plot = {.sheet = {results, lode_plot_canvas_cairo(canvas), TOP, PANEL_HEIGHT, true}};

	choose_scales(&plot);
	draw(&plot);
	return lode_plot_canvas_finish(canvas, error);
}
