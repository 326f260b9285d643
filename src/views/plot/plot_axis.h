/* SPDX-License-Identifier: MIT */
/* Axes with ticks, labels and a title, along the bottom or the left of a panel. */
#pragma once

#include "views/plot/plot_canvas.h"
#include "views/plot/plot_scale.h"

typedef struct {
	const LodePlotScale *scale;
	const char *title;
	unsigned n_ticks; /* wanted */
	double factor;    /* labels are value × factor: 1e-9 shows nanoseconds as seconds */
	bool is_vertical;
	bool is_bytes; /* labels are sizes: "32K" */
	double at;     /* y of a horizontal axis, x of a vertical one */
	double grid;   /* how far lines go into the panel from each tick; 0: none */
} LodePlotAxis;

void lode_plot_axis_draw(cairo_t *cairo, const LodePlotAxis *axis);

/* "512", "32K", "1.5M"; writes into `buffer` and returns it. */
enum { LODE_PLOT_SIZE_TEXT = 32 };
char *lode_plot_size_text(double bytes, char buffer[LODE_PLOT_SIZE_TEXT]);

/* The thin frame of a panel. */
void lode_plot_frame(cairo_t *cairo, const LodePlotBox *box);
