/* SPDX-License-Identifier: MIT */
/*
 * How far apart the uses of a line are: bars by the size of the cache that serves them, the first
 * uses of lines last.
 *
 *    %│ ▌
 *     │ ▌▌    ▌          ▌
 *     │ ▌▌▌▌ ▌▌▌ ▌       ▌
 *     └──────────────  first
 *      64  1K  1M
 */
#pragma once

#include "views/plot/plot_canvas.h"
#include "views/traces/cache_results.h"

/* Errors: _IO. */
bool lode_reuse_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error);
