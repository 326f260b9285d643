/* SPDX-License-Identifier: MIT */
/* The text around a panel. */
#include "views/plot/plot_legend.h"

#include "views/plot/cairo_library.h"

enum { SQUARE = 10, SQUARE_GAP = 6, NAME_GAP = 22, DARK_LEVEL = 5, LIGHT_LEVEL = 2 };

void lode_plot_titles(
	cairo_t *cairo, const LodePlotBox *sheet, const char *title, const char *facts)
{
	LodePlotTextStyle style = {.size = 15, .is_bold = true, .width = sheet->width};

	lode_plot_text(cairo, sheet->x, sheet->y + 22, &style, title);
	style = (LodePlotTextStyle){.size = 10.5, .grey = 0.3, .width = sheet->width};
	lode_plot_text(cairo, sheet->x, sheet->y + 42, &style, facts);
}

LodePlotColour lode_plot_series_colour(unsigned series)
{
	unsigned round = series / LODE_PLOT_N_HUES;

	return lode_plot_colour((LodePlotHue)(series % LODE_PLOT_N_HUES),
		round % 2 == 0 ? DARK_LEVEL : LIGHT_LEVEL);
}

void lode_plot_legend(
	cairo_t *cairo, const LodePlotBox *row, const char *const *names, unsigned n_names)
{
	LodePlotTextStyle style = {.size = 10.5, .grey = 0.15};
	double x = row->x, y = row->y;

	for (unsigned i = 0; i < n_names; i++) {
		LodePlotColour colour = lode_plot_series_colour(i);
		double width = SQUARE + SQUARE_GAP + lode_plot_text_width(cairo, &style, names[i]);

		if (x + width > row->x + row->width) {
			lode_plot_text(cairo, x, y, &style, "…");
			return;
		}
		lode_cairo.set_source_rgb(cairo, colour.red, colour.green, colour.blue);
		lode_cairo.rectangle(cairo, x, y - SQUARE / 2.0, SQUARE, SQUARE);
		lode_cairo.fill(cairo);
		lode_plot_text(cairo, x + SQUARE + SQUARE_GAP, y, &style, names[i]);
		x += width + NAME_GAP;
	}
}
