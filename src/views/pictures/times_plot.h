/* SPDX-License-Identifier: MIT */
/* Misses per reference over time: a line of steps for each simulated cache, or, without any, for
 * fully associative LRU caches of some sizes. */
#pragma once

#include "views/plot/plot_canvas.h"
#include "views/traces/cache_results.h"

/* The results have stretches. Errors: _IO. */
bool lode_times_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error);
