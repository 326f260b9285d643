/* SPDX-License-Identifier: MIT */
/*
 * A sheet to draw on with cairo, that becomes an SVG or PNG file: x to the right and y downwards,
 * in units of 1/96 inch. SVG comes out the same, byte for byte, for the same drawing and fonts; its
 * text is text, which can be searched, over all else, and boxes may have tooltips.
 */
#pragma once

#include <cairo.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum {
	LODE_PLOT_SVG,
	LODE_PLOT_PNG, /* two pixels to a unit */
} LodePlotFormat;

/* By the ending of a file's name, ".svg" or ".png", in any case. Errors: _USAGE. */
bool lode_plot_format_from_path(const char *path, LodePlotFormat *out_format, GError **error);

enum { LODE_PLOT_MAX_SIZE = 16000 }; /* units; larger sheets are refused by cairo */

typedef struct {
	double x, y, width, height;
} LodePlotBox;

typedef struct LodePlotCanvas LodePlotCanvas;

/* A white canvas that is written to `out`, which stays the caller's. Errors: _UNSUPPORTED if cairo
 * is not installed. */
LodePlotCanvas *lode_plot_canvas_new(
	LodePlotFormat format, double width, double height, FILE *out, GError **error);
void lode_plot_canvas_free(LodePlotCanvas *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePlotCanvas, lode_plot_canvas_free)

cairo_t *lode_plot_canvas_cairo(LodePlotCanvas *self); /* borrowed */

/* Finishes the file and flushes `out`. Errors: _IO, also for what cairo could not draw. */
bool lode_plot_canvas_finish(LodePlotCanvas *self, GError **error);

typedef enum {
	LODE_PLOT_START,
	LODE_PLOT_MIDDLE,
	LODE_PLOT_END,
} LodePlotAnchor;

typedef struct {
	double size; /* of the letters */
	double grey; /* 0: black */
	LodePlotAnchor anchor;
	double width; /* longer text is shortened in the middle; 0: it is not */
	double angle; /* radians, clockwise */
	bool is_bold;
} LodePlotTextStyle;

/* A tooltip for a box of an SVG; in PNG nothing. Harmless whatever bytes `text` has. */
void lode_plot_tooltip(
	cairo_t *cairo, double x, double y, double width, double height, const char *text);

/* One line, its middle at y; harmless whatever bytes `text` has. */
void lode_plot_text(
	cairo_t *cairo, double x, double y, const LodePlotTextStyle *style, const char *text);

double lode_plot_text_width(cairo_t *cairo, const LodePlotTextStyle *style, const char *text);
