/* SPDX-License-Identifier: MIT */
/* The colours of all plots. */
#include "views/plot/plot_colour.h"

#include <glib.h>
#include <math.h>

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
