/* SPDX-License-Identifier: MIT */
/*
 * The colours of all plots. Blue, orange and grey stay apart for every kind of colour blindness,
 * and within each, darker is more, so that a print without colour keeps its meaning.
 */
#pragma once

typedef enum {
	LODE_PLOT_BLUE,   /* loads; the first of several series */
	LODE_PLOT_ORANGE, /* stores; the second */
	LODE_PLOT_GREY,   /* both, or unknown; the third */
	LODE_PLOT_N_HUES,
} LodePlotHue;

enum { LODE_PLOT_LEVELS = 8 }; /* steps of a hue, 0 the lightest */

typedef struct {
	double red, green, blue; /* 0 … 1 */
} LodePlotColour;

LodePlotColour lode_plot_colour(LodePlotHue hue, unsigned level);

/* Colours that stand for threads and the like, far apart from each other (M. Okabe, K. Ito, "Color
 * Universal Design", 2008); the last is for all others. Lighter below the highest level. */
enum { LODE_PLOT_CATEGORIES = 8 };
LodePlotColour lode_plot_category_colour(unsigned category, unsigned level);

/* "#1f77b4", as SVG writes it; tests find cells by it. */
void lode_plot_colour_text(LodePlotColour colour, char text[8]);
