/* SPDX-License-Identifier: MIT */
/* The text around a panel: the sheet's title with a line of facts, and the names of series. */
#pragma once

#include "views/plot/plot_canvas.h"
#include "views/plot/plot_colour.h"

enum { LODE_PLOT_TITLES_HEIGHT = 58 }; /* from the sheet's top */

/* At the sheet's top; both are shortened to the width. */
void lode_plot_titles(
	cairo_t *cairo, const LodePlotBox *sheet, const char *title, const char *facts);

/* The colour of the i-th series: hue by hue, then lighter. */
LodePlotColour lode_plot_series_colour(unsigned series);

/* A row of names with squares of their colours, its middle at y; those that do not fit are
 * left out, with an ellipsis. */
void lode_plot_legend(
	cairo_t *cairo, const LodePlotBox *row, const char *const *names, unsigned n_names);
