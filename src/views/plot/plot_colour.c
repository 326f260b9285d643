/* SPDX-License-Identifier: MIT */
/* The colours of all plots. */
#include "views/plot/plot_colour.h"

#include "views/plot/cairo_library.h"

#include <math.h>

struct LodePlotCells {
	GArray *boxes[LODE_PLOT_N_HUES][LODE_PLOT_LEVELS]; /* LodePlotBox */
};

/* Light, middle, dark; after ColorBrewer's Blues, Oranges and Greys. */
static const LodePlotColour stops[LODE_PLOT_N_HUES][3] = {
	{{0.78, 0.86, 0.94}, {0.26, 0.57, 0.78}, {0.03, 0.19, 0.42}},
	{{0.99, 0.82, 0.64}, {0.95, 0.44, 0.07}, {0.45, 0.14, 0.02}},
	{{0.82, 0.82, 0.82}, {0.50, 0.50, 0.50}, {0.10, 0.10, 0.10}},
};

/* Rounded to what eight bits hold, so that every format has the same colour. */
static double between(double low, double high, double fraction)
{
	return round((low + (high - low) * fraction) * 255) / 255;
}

LodePlotColour lode_plot_colour(LodePlotHue hue, unsigned level)
{
	double at = 2.0 * MIN(level, LODE_PLOT_LEVELS - 1) / (LODE_PLOT_LEVELS - 1);
	unsigned first = at < 1 ? 0 : 1;
	const LodePlotColour *low = &stops[hue][first], *high = &stops[hue][first + 1];

	return (LodePlotColour){
		between(low->red, high->red, at - first),
		between(low->green, high->green, at - first),
		between(low->blue, high->blue, at - first),
	};
}

LodePlotColour lode_plot_category_colour(unsigned category, unsigned level)
{
	static const LodePlotColour colours[LODE_PLOT_CATEGORIES] = {
		{0.00, 0.45, 0.70},
		{0.90, 0.62, 0.00},
		{0.00, 0.62, 0.45},
		{0.84, 0.37, 0.00},
		{0.80, 0.47, 0.65},
		{0.34, 0.71, 0.91},
		{0.55, 0.50, 0.10},
		{0.45, 0.45, 0.45},
	};
	const LodePlotColour *colour = &colours[MIN(category, LODE_PLOT_CATEGORIES - 1)];
	double strength = 0.3 + 0.7 * MIN(level, LODE_PLOT_LEVELS - 1) / (LODE_PLOT_LEVELS - 1);

	return (LodePlotColour){
		between(1, colour->red, strength),
		between(1, colour->green, strength),
		between(1, colour->blue, strength),
	};
}

void lode_plot_colour_text(LodePlotColour colour, char text[8])
{
	g_snprintf(text, 8, "#%02x%02x%02x", (unsigned)lround(colour.red * 255),
		(unsigned)lround(colour.green * 255), (unsigned)lround(colour.blue * 255));
}

unsigned lode_plot_level(const LodePlotScale *scale, double value)
{
	double fraction = lode_plot_scale_fraction(scale, value);

	return (unsigned)(CLAMP(fraction, 0, 1) * (LODE_PLOT_LEVELS - 1) + 0.5);
}

LodePlotCells *lode_plot_cells_new(void)
{
	LodePlotCells *self = g_new0(LodePlotCells, 1);

	for (int hue = 0; hue < LODE_PLOT_N_HUES; hue++)
		for (int level = 0; level < LODE_PLOT_LEVELS; level++)
			self->boxes[hue][level] = g_array_new(FALSE, FALSE, sizeof(LodePlotBox));
	return self;
}

void lode_plot_cells_free(LodePlotCells *self)
{
	if (self == NULL)
		return;
	for (int hue = 0; hue < LODE_PLOT_N_HUES; hue++)
		for (int level = 0; level < LODE_PLOT_LEVELS; level++)
			g_array_unref(self->boxes[hue][level]);
	g_free(self);
}

void lode_plot_cells_add(
	LodePlotCells *self, LodePlotHue hue, unsigned level, const LodePlotBox *box)
{
	g_array_append_vals(self->boxes[hue][level], box, 1);
}

static void fill_boxes(const GArray *boxes, cairo_t *cairo)
{
	for (guint i = 0; i < boxes->len; i++) {
		const LodePlotBox *box = &g_array_index(boxes, LodePlotBox, i);
		lode_cairo.rectangle(cairo, box->x, box->y, box->width, box->height);
	}
	lode_cairo.fill(cairo);
}

void lode_plot_cells_fill(const LodePlotCells *self, cairo_t *cairo)
{
	for (unsigned hue = 0; hue < LODE_PLOT_N_HUES; hue++) {
		for (unsigned level = 0; level < LODE_PLOT_LEVELS; level++) {
			const GArray *boxes = self->boxes[hue][level];
			LodePlotColour colour = lode_plot_colour((LodePlotHue)hue, level);
			if (boxes->len == 0)
				continue;
			lode_cairo.set_source_rgb(cairo, colour.red, colour.green, colour.blue);
			fill_boxes(boxes, cairo);
		}
	}
}

void lode_plot_colour_bar(cairo_t *cairo, LodePlotHue hue, const LodePlotBox *box)
{
	double step = box->width / LODE_PLOT_LEVELS;

	for (unsigned level = 0; level < LODE_PLOT_LEVELS; level++) {
		LodePlotColour colour = lode_plot_colour(hue, level);
		lode_cairo.set_source_rgb(cairo, colour.red, colour.green, colour.blue);
		lode_cairo.rectangle(cairo, box->x + level * step, box->y, step, box->height);
		lode_cairo.fill(cairo);
	}
}
