/* SPDX-License-Identifier: MIT */
/* Uses of lines by their distance. */
#include "views/pictures/cache_plots.h"

#include "views/plot/cairo_library.h"
#include "views/plot/curve_sheet.h"
#include "views/plot/plot_axis.h"

#include <math.h>

enum {
	HEIGHT = 500,
	LEFT = LODE_CURVE_SHEET_LEFT,
	TOP = LODE_PLOT_TITLES_HEIGHT + 30,
	PANEL_WIDTH = LODE_CURVE_SHEET_PANEL_WIDTH,
	PANEL_HEIGHT = HEIGHT - TOP - LODE_CURVE_SHEET_BOTTOM,
	PANEL_BOTTOM = TOP + PANEL_HEIGHT,
	LABEL_OFFSET = 12,
	TITLE_OFFSET = 30,
	LABEL_GAP = 2,
};

static const double bars_part = 0.82;      /* of a bin's width; the rest keeps bins apart */
static const double highest = 2;           /* room above a bar of all accesses */
static const double smallest_share = 1e-6; /* smaller ones are a line at the bottom */

typedef struct {
	LodeCurveSheet sheet;
	guint n_curves;
	LodePlotScale y;
	unsigned n_bins; /* and one more for first uses */
	double bin_width;
} Plot;

static double share_of(const Plot *self, guint curve, unsigned bin)
{
	const LodeMissCurve *of = lode_curve_sheet_curve(&self->sheet, curve);

	return lode_miss_curve_ratio(of, bin == self->n_bins ? of->n_lines : of->reuses[bin]);
}

/* Logarithmic: the few reuses that are far apart are those that cost. */
static void choose_scales(Plot *self)
{
	double low = 1;

	for (guint i = 0; i < self->n_curves; i++)
		self->n_bins = MAX(self->n_bins, lode_curve_sheet_curve(&self->sheet, i)->n_bins);
	for (guint i = 0; i < self->n_curves; i++)
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
	for (guint i = 1; i < self->n_curves; i++)
		if (lode_curve_sheet_curve(&self->sheet, i)->line_bytes !=
			lode_curve_sheet_curve(&self->sheet, 0)->line_bytes)
			return false;
	return self->n_curves > 0;
}

static void draw_bin_labels(const Plot *self)
{
	const bool is_bytes = is_one_line_size(self);
	double line_bytes = is_bytes ? lode_curve_sheet_curve(&self->sheet, 0)->line_bytes : 1;
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.25, .anchor = LODE_PLOT_MIDDLE};
	unsigned step = self->bin_width < 30 ? 2 : 1;
	char size[LODE_PLOT_SIZE_TEXT];

	for (unsigned bin = 0; bin < self->n_bins; bin += step)
		lode_plot_text(self->sheet.cairo, LEFT + (bin + 0.5) * self->bin_width,
			PANEL_BOTTOM + LABEL_OFFSET, &style,
			lode_plot_size_text((double)(UINT64_C(1) << bin) * line_bytes, size));
	lode_plot_text(self->sheet.cairo, LEFT + (self->n_bins + 0.5) * self->bin_width,
		PANEL_BOTTOM + LABEL_OFFSET, &style, "first use");
	style = (LodePlotTextStyle){.size = 10.5, .grey = 0.1, .anchor = LODE_PLOT_MIDDLE};
	lode_plot_text(self->sheet.cairo, LEFT + PANEL_WIDTH / 2.0, PANEL_BOTTOM + TITLE_OFFSET,
		&style,
		is_bytes ? "LRU cache that is large enough for the reuse, bytes"
			 : "LRU cache that is large enough for the reuse, lines");
}

/* Above the bar, where there is room. */
static void draw_share(const Plot *self, const LodePlotBox *bar, double share)
{
	LodePlotTextStyle style = {.size = 8.5, .grey = 0.3, .anchor = LODE_PLOT_MIDDLE};
	char text[LODE_PLOT_SIZE_TEXT];

	const char *format = share >= 0.01 ? "%.1f" : "%.1g";

	g_ascii_formatd(text, sizeof(text), share >= 0.1 ? "%.0f" : format, share * 100);
	if (lode_plot_text_width(self->sheet.cairo, &style, text) <= bar->width + LABEL_GAP)
		lode_plot_text(
			self->sheet.cairo, bar->x + bar->width / 2, bar->y - 7, &style, text);
}

static void draw_bar(const Plot *self, guint curve, unsigned bin)
{
	double width = self->bin_width * bars_part / self->n_curves;
	double share = share_of(self, curve, bin);
	double top = lode_plot_scale_at(&self->y, MAX(share, self->y.low));
	const LodePlotBox bar = {
		LEFT + (bin + (1 - bars_part) / 2) * self->bin_width + curve * width, top, width,
		PANEL_BOTTOM - top};

	if (share <= 0)
		return;
	lode_curve_sheet_set_colour(&self->sheet, curve);
	lode_cairo.rectangle(self->sheet.cairo, bar.x, bar.y, bar.width, bar.height);
	lode_cairo.fill(self->sheet.cairo);
	draw_share(self, &bar, share);
}

static void draw(const Plot *self)
{
	lode_curve_sheet_titles(&self->sheet, "");
	lode_curve_sheet_axis(&self->sheet, &self->y, "% of accesses, logarithmic");
	draw_bin_labels(self);
	lode_curve_sheet_frame(&self->sheet);
	for (unsigned bin = 0; bin <= self->n_bins; bin++)
		for (guint i = 0; i < self->n_curves; i++)
			draw_bar(self, i, bin);
}

bool lode_reuse_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error)
{
	g_autoptr(LodePlotCanvas)
		canvas = lode_plot_canvas_new(format, LODE_CURVE_SHEET_WIDTH, HEIGHT, out, error);
	if (canvas == NULL)
		return false;
	Plot plot = {
		.sheet = {results, lode_plot_canvas_cairo(canvas), TOP, PANEL_HEIGHT},
		.n_curves = results->replay->curves->len,
	};

	choose_scales(&plot);
	draw(&plot);
	return lode_plot_canvas_finish(canvas, error);
}
