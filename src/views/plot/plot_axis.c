/* SPDX-License-Identifier: MIT */
/* Axes with ticks, labels and a title. */
#include "views/plot/plot_axis.h"

#include "views/plot/cairo_library.h"

#include <math.h>

enum { TICK = 4, LABEL_OFFSET = 12, TITLE_OFFSET = 28, VERTICAL_TITLE_OFFSET = 48 };

static const double line_grey = 0.45, grid_grey = 0.9;

static void draw_line(cairo_t *cairo, const LodePlotBox *box, double grey)
{
	lode_cairo.set_source_rgb(cairo, grey, grey, grey);
	lode_cairo.set_line_width(cairo, 0.8);
	lode_cairo.move_to(cairo, box->x, box->y);
	lode_cairo.rel_line_to(cairo, box->width, box->height);
	lode_cairo.stroke(cairo);
}

char *lode_plot_size_text(double bytes, char buffer[LODE_PLOT_SIZE_TEXT])
{
	static const char *const units[] = {"", "K", "M", "G", "T", "P", "E"};
	char number[LODE_PLOT_SIZE_TEXT / 2];
	size_t unit = 0;

	for (; bytes >= 1024 && unit + 1 < G_N_ELEMENTS(units); unit++)
		bytes /= 1024;
	g_ascii_formatd(number, sizeof(number), "%.4g", bytes);
	g_snprintf(buffer, LODE_PLOT_SIZE_TEXT, "%s%s", number, units[unit]);
	return buffer;
}

static void draw_tick(cairo_t *cairo, const LodePlotAxis *axis, double value)
{
	double place = lode_plot_scale_at(axis->scale, value);
	LodePlotTextStyle style = {.size = 9.5, .grey = 0.25};
	char label[LODE_PLOT_SIZE_TEXT];

	if (axis->is_bytes)
		lode_plot_size_text(value * axis->factor, label);
	else
		g_ascii_formatd(label, sizeof(label), "%.6g", value * axis->factor);
	if (axis->is_vertical) {
		draw_line(cairo, &(LodePlotBox){axis->at, place, axis->grid, 0}, grid_grey);
		draw_line(cairo, &(LodePlotBox){axis->at - TICK, place, TICK, 0}, line_grey);
		style.anchor = LODE_PLOT_END;
		lode_plot_text(cairo, axis->at - TICK - 3, place, &style, label);
	} else {
		draw_line(cairo, &(LodePlotBox){place, axis->at, 0, -axis->grid}, grid_grey);
		draw_line(cairo, &(LodePlotBox){place, axis->at, 0, TICK}, line_grey);
		style.anchor = LODE_PLOT_MIDDLE;
		lode_plot_text(cairo, place, axis->at + LABEL_OFFSET, &style, label);
	}
}

static void draw_title(cairo_t *cairo, const LodePlotAxis *axis)
{
	double middle = (axis->scale->from + axis->scale->to) / 2;
	LodePlotTextStyle style = {.size = 10.5, .grey = 0.1, .anchor = LODE_PLOT_MIDDLE};

	if (axis->is_vertical) {
		style.angle = -G_PI / 2;
		lode_plot_text(
			cairo, axis->at - VERTICAL_TITLE_OFFSET, middle, &style, axis->title);
	} else {
		lode_plot_text(cairo, middle, axis->at + TITLE_OFFSET, &style, axis->title);
	}
}

void lode_plot_axis_draw(cairo_t *cairo, const LodePlotAxis *axis)
{
	double ticks[LODE_PLOT_MAX_TICKS];
	size_t n = lode_plot_scale_ticks(axis->scale, axis->n_ticks, ticks);

	for (size_t i = 0; i < n; i++)
		draw_tick(cairo, axis, ticks[i]);
	if (axis->title != NULL)
		draw_title(cairo, axis);
}

void lode_plot_frame(cairo_t *cairo, const LodePlotBox *box)
{
	lode_cairo.set_source_rgb(cairo, line_grey, line_grey, line_grey);
	lode_cairo.set_line_width(cairo, 0.8);
	lode_cairo.rectangle(cairo, box->x, box->y, box->width, box->height);
	lode_cairo.stroke(cairo);
}
