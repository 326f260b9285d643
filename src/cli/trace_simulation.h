/* SPDX-License-Identifier: MIT */
/* The options of lode trace simulate, by what they are for: each group is a file of its own. */
#pragma once

#include "cli/verb.h"
#include "views/cache_results.h"

#include <stdio.h>

/* Which caches: --cache, --classify (trace_caches.c). */
extern const GOptionEntry lode_trace_cache_options[];
bool lode_trace_caches_are_wanted(void);
bool lode_trace_caches_are_classified(void);

/*
 * GPtrArray of LodeHierarchy, at least one; the caller owns it. Without --cache it is this
 * machine's own, and where that is not known, a preset; then `out_note` says so, owned by the
 * caller. Errors: _USAGE, _IO, _LIMIT.
 */
GPtrArray *lode_trace_caches_read(char **out_note, GError **error);

/* Which curves: --curve, --line (trace_curves.c). GArray of LodeStackDistancesOptions, of which
 * there is at least one; the caller owns it. Errors: _USAGE, _LIMIT. */
extern const GOptionEntry lode_trace_curve_options[];
bool lode_trace_curves_are_wanted(void);
GArray *lode_trace_curves_read(GError **error);

/* Which pictures: --plot-curve, --plot-reuse (trace_plots.c). Errors: _USAGE, before anything is
 * replayed; _IO. */
extern const GOptionEntry lode_trace_plot_options[];
bool lode_trace_plots_need_curves(void);
bool lode_trace_plots_check(GError **error);
bool lode_trace_plots_write(const LodeCacheResults *results, GError **error);
