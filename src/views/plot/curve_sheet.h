/* SPDX-License-Identifier: MIT */
/*
 * The sheet of a picture of curves: on top the program, the facts of its trace, and a legend that
 * names the curves; below, a panel whose vertical axis is a share of accesses.
 */
#pragma once

#include "views/plot/plot_legend.h"
#include "views/plot/plot_scale.h"
#include "views/traces/cache_results.h"

enum {
	LODE_CURVE_SHEET_WIDTH = 960,
	LODE_CURVE_SHEET_LEFT = 76, /* of the panel */
	LODE_CURVE_SHEET_RIGHT = 28,
	LODE_CURVE_SHEET_BOTTOM = 56, /* below the panel */
	LODE_CURVE_SHEET_PANEL_WIDTH = LODE_CURVE_SHEET_WIDTH - LODE_CURVE_SHEET_LEFT -
	                               LODE_CURVE_SHEET_RIGHT,
};

typedef struct {
	const LodeCacheResults *results;
	cairo_t *cairo;
	double top, height; /* of the panel */
	bool has_threads;   /* curves by thread, where there are any, come after the others */
} LodeCurveSheet;

unsigned lode_curve_sheet_n_curves(const LodeCurveSheet *self);

/* Borrowed from the results. */
const LodeMissCurve *lode_curve_sheet_curve(const LodeCurveSheet *self, guint index);

/* Sets the colour of the next drawing to that of this curve in the legend. */
void lode_curve_sheet_set_colour(const LodeCurveSheet *self, guint index);

/* `remark` follows the facts of the trace. */
void lode_curve_sheet_titles(const LodeCurveSheet *self, const char *remark);

/* The vertical axis, in percent; the panel's frame is lode_curve_sheet_frame(). */
void lode_curve_sheet_axis(
	const LodeCurveSheet *self, const LodePlotScale *scale, const char *title);
void lode_curve_sheet_frame(const LodeCurveSheet *self);
