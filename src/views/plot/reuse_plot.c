/* SPDX-License-Identifier: MIT */
/* Uses of lines by their distance. */
#include "views/plot/reuse_plot.h"

#include "views/plot/curve_names.h"
#include "views/plot/plot_axis.h"
#include "views/plot/plot_legend.h"

#include <math.h>

enum {
	WIDTH = 960,
	HEIGHT = 500,
	LEFT = 76,
	RIGHT = 28,
	TOP = LODE_PLOT_TITLES_HEIGHT + 30,
	BOTTOM = 56,
	PANEL_WIDTH = WIDTH - LEFT - RIGHT,
	PANEL_HEIGHT = HEIGHT - TOP - BOTTOM,
	PANEL_BOTTOM = TOP + PANEL_HEIGHT,
	LABEL_OFFSET = 12,
	TITLE_OFFSET = 30,
	LABEL_GAP = 2,
};

static const double bars_part = 0.82;      /* of a bin's width; the rest keeps bins apart */
static const double highest = 2;           /* room above a bar of all accesses */
static const double smallest_share = 1e-6; /* smaller ones are a line at the bottom */

typedef struct {
	const LodeCacheResults *results;
	const GPtrArray *curves;
	cairo_t *cairo;
	LodePlotScale y;
	unsigned n_bins; /* and one more for first uses */
	double bin_width;
} Plot;

static const LodeMissCurve *curve_at(const Plot *self, guint index)
{
	return g_ptr_array_index(self->curves, index);
}

static double share_of(const Plot *self, guint curve, unsigned bin)
{
	const LodeMissCurve *of = curve_at(self, curve);

	return lode_miss_curve_ratio(of, bin == self->n_bins ? of->n_lines : of->reuses[bin]);
}

/* Logarithmic: the few reuses that are far apart are those that cost. */
static void choose_scales(Plot *self)
{
	double low = 1;

	for (guint i = 0; i < self->curves->len; i++)
		self->n_bins = MAX(self->n_bins, curve_at(self, i)->n_bins);
	for (guint i = 0; i < self->curves->len; i++)
		for (unsigned bin = 0; bin <= self->n_bins; bin++)
			if (share_of(self, i, bin) > 0)
				low = MIN(low, share_of(self, i, bin));
	self->bin_width = PANEL_WIDTH / (self->n_bins + 1.0);
	self->y = lode_plot_scale(
		pow(10, floor(log10(MAX(low, smallest_share) * 0.7))), highest, true);
	self->y.from = PANEL_BOTTOM;
	self->y.to = TOP;
}

/* Curves of several line sizes have only the number of lines in common. */
static bool is_one_line_size(const Plot *self)
{
	for (guint i = 1; i < self->curves->len; i++)
		if (curve_at(self, i)->line_bytes != curve_at(self, 0)->line_bytes)
			return false;
	return self->curves->len > 0;
}

static void draw_bin_labels(const Plot *self)
{
	const bool is_bytes = is_one_line_size(self);
	double line_bytes = is_bytes ? curve_at(self, 0)->line_bytes : 1;
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.25, .anchor = LODE_PLOT_MIDDLE};
	unsigned step = self->bin_width < 30 ? 2 : 1;
	char size[LODE_PLOT_SIZE_TEXT];

	for (unsigned bin = 0; bin < self->n_bins; bin += step)
		lode_plot_text(self->cairo, LEFT + (bin + 0.5) * self->bin_width,
			PANEL_BOTTOM + LABEL_OFFSET, &style,
			lode_plot_size_text((double)(UINT64_C(1) << bin) * line_bytes, size));
	lode_plot_text(self->cairo, LEFT + (self->n_bins + 0.5) * self->bin_width,
		PANEL_BOTTOM + LABEL_OFFSET, &style, "first use");
	style = (LodePlotTextStyle){.size = 10.5, .grey = 0.1, .anchor = LODE_PLOT_MIDDLE};
	lode_plot_text(self->cairo, LEFT + PANEL_WIDTH / 2.0, PANEL_BOTTOM + TITLE_OFFSET, &style,
		is_bytes ? "LRU cache that is large enough for the reuse, bytes"
			 : "LRU cache that is large enough for the reuse, lines");
}

static void draw_axes(const Plot *self)
{
	const LodePlotBox panel = {LEFT, TOP, PANEL_WIDTH, PANEL_HEIGHT};
	const LodePlotAxis axis = {
		.scale = &self->y,
		.title = "% of accesses, logarithmic",
		.n_ticks = 8,
		.factor = 100,
		.is_vertical = true,
		.at = LEFT,
		.grid = PANEL_WIDTH,
	};

	lode_plot_axis_draw(self->cairo, &axis);
	draw_bin_labels(self);
	lode_plot_frame(self->cairo, &panel);
}

/* Above the bar, where there is room. */
static void draw_share(const Plot *self, const LodePlotBox *bar, double share)
{
	LodePlotTextStyle style = {.size = 8.5, .grey = 0.3, .anchor = LODE_PLOT_MIDDLE};
	char text[LODE_PLOT_SIZE_TEXT];

	const char *format = share >= 0.01 ? "%.1f" : "%.1g";

	g_ascii_formatd(text, sizeof(text), share >= 0.1 ? "%.0f" : format, share * 100);
	if (lode_plot_text_width(self->cairo, &style, text) <= bar->width + LABEL_GAP)
		lode_plot_text(self->cairo, bar->x + bar->width / 2, bar->y - 7, &style, text);
}

static void draw_bar(const Plot *self, guint curve, unsigned bin)
{
	double width = self->bin_width * bars_part / self->curves->len;
	double share = share_of(self, curve, bin);
	double top = lode_plot_scale_at(&self->y, MAX(share, self->y.low));
	const LodePlotBox bar = {
		LEFT + (bin + (1 - bars_part) / 2) * self->bin_width + curve * width, top, width,
		PANEL_BOTTOM - top};
	LodePlotColour colour = lode_plot_series_colour(curve);

	if (share <= 0)
		return;
	cairo_set_source_rgb(self->cairo, colour.red, colour.green, colour.blue);
	cairo_rectangle(self->cairo, bar.x, bar.y, bar.width, bar.height);
	cairo_fill(self->cairo);
	draw_share(self, &bar, share);
}

static void draw(const Plot *self)
{
	const LodePlotBox legend = {LEFT, LODE_PLOT_TITLES_HEIGHT + 6, PANEL_WIDTH, 0};
	const LodePlotBox sheet = {LEFT, 0, PANEL_WIDTH, HEIGHT};
	g_auto(GStrv) names = lode_curve_names(self->results);
	g_autofree char *facts = lode_curve_facts(self->results);

	lode_plot_titles(self->cairo, &sheet, lode_curve_title(self->results), facts);
	lode_plot_legend(self->cairo, &legend, (const char *const *)names, self->curves->len);
	draw_axes(self);
	for (unsigned bin = 0; bin <= self->n_bins; bin++)
		for (guint i = 0; i < self->curves->len; i++)
			draw_bar(self, i, bin);
}

bool lode_reuse_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error)
{
	g_autoptr(LodePlotCanvas) canvas = lode_plot_canvas_new(format, WIDTH, HEIGHT, out);
	Plot plot = {
		.results = results,
		.curves = results->replay->curves,
		.cairo = lode_plot_canvas_cairo(canvas),
	};

	choose_scales(&plot);
	draw(&plot);
	return lode_plot_canvas_finish(canvas, error);
}
