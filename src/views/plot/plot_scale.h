/* SPDX-License-Identifier: MIT */
/* From values to places on a sheet, linear or logarithmic, and which values get a tick. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
	double low, high; /* values; low < high, and above 0 when logarithmic */
	double from, to;  /* their places; from may be larger (y goes downwards) */
	bool is_log;
	bool is_binary; /* ticks of a logarithmic one are powers of two, not of ten */
} LodePlotScale;

/* A scale that is never empty: equal ends are moved apart, those of a logarithmic one made
 * positive.
 */
LodePlotScale lode_plot_scale(double low, double high, bool is_log);

/* The place of a value; outside the ends it lies outside too. */
double lode_plot_scale_at(const LodePlotScale *self, double value);

/* 0 at the low end, 1 at the high one. */
double lode_plot_scale_fraction(const LodePlotScale *self, double value);

enum { LODE_PLOT_MAX_TICKS = 64 };

/* About `wanted` round values (1, 2 or 5 times a power of ten; powers of ten, or of two, when
 * logarithmic) from low to high. Gives their number. */
size_t lode_plot_scale_ticks(
	const LodePlotScale *self, unsigned wanted, double ticks[LODE_PLOT_MAX_TICKS]);
