/* SPDX-License-Identifier: MIT */
/* The pictures of `lode trace simulate`. */
#pragma once

#include "analyses/memory/objects/event_groups.h"
#include "views/plot/plot_canvas.h"
#include "views/traces/cache_results.h"

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
 *
 * Errors: _IO.
 */
bool lode_miss_ratio_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error);

/* Where a simulated cache's dot stands: its misses by references of the curve's kinds, of all uses
 * of lines that the curve counts. */
double lode_miss_ratio_plot_dot(const LodeMissCurve *curve, const LodeCacheCounts *counts);

/*
 * How far apart the uses of a line are: bars by the size of the cache that serves them, the first
 * uses of lines last.
 *
 *    %│ ▌
 *     │ ▌▌    ▌          ▌
 *     │ ▌▌▌▌ ▌▌▌ ▌       ▌
 *     └──────────────  first
 *      64  1K  1M
 *
 * Errors: _IO.
 */
bool lode_reuse_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error);

/* Misses per reference over time: a line of steps for each simulated cache, or, without any, for
 * fully associative LRU caches of some sizes. The results have stretches. Errors: _IO. */
bool lode_times_plot_write(
	const LodeCacheResults *results, LodePlotFormat format, FILE *out, GError **error);

/*
 * An event by data object: a bar for each, loads and stores one after the other.
 *
 *   struct node.next  ████████████████████▒▒ 61.0 %
 *   int counts[]      ████▒▒▒▒ 20.1 %
 *   [stack]           ▒ 1.2 %
 *
 * `groups` are by object. Errors: _IO.
 */
bool lode_misses_by_object_plot_write(const LodeProfile *profile, const LodeEventGroups *groups,
	LodePlotFormat format, FILE *out, GError **error);
