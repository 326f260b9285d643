/* SPDX-License-Identifier: MIT */
/*
 * Miss ratio by cache size, a line for each curve; where caches were simulated too, their sizes as
 * lines across, and their own misses as dots: the distance above the curve is the cost of
 * associativity.
 *
 *    %│╲      l1    l2
 *     │ ╲_____┊     ┊
 *     │       ●─────┊──
 *     └─────────────────  size
 *      1K    32K    1M
 */
#pragma once

#include "views/plot/plot_canvas.h"
#include "views/traces/cache_results.h"

/* Errors: _IO. */
bool lode_miss_ratio_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error);

/* Where a simulated cache's dot stands: its misses by references of the curve's kinds, of all uses
 * of lines that the curve counts. */
double lode_miss_ratio_plot_dot(const LodeMissCurve *curve, const LodeCacheCounts *counts);
