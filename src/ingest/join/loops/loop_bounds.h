/* SPDX-License-Identifier: MIT */
/*
 * The cycles that the units of a core need at least for an iteration of a loop (resource bound: B.
 * R. Rau, "Iterative modulo scheduling", 1994). Private to ingest/join/.
 */
#pragma once

#include "images/cores/core.h"
#include "ingest/join/loops/natural_loops.h"

/* Sets kind and latencies of a node whose use is known. */
void lode_loop_bounds_set_latencies(const LodeCore *core, LodeDependenceNode *node);

typedef struct LodeLoopBounds LodeLoopBounds;
LodeLoopBounds *lode_loop_bounds_new(void);
void lode_loop_bounds_free(LodeLoopBounds *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLoopBounds, lode_loop_bounds_free)

/*
 * Fills all of `out`, on the core of the graph, but its head, recurrences and what was measured:
 * means over the executions of the loop's instructions. A unit's bound is the highest of Σ cycles
 * of the work that only ports of a set do ÷ the ports of the set, over the unions of the ports that
 * its instructions use.
 */
bool lode_loop_bounds_find(
	LodeLoopBounds *self, const LodeNaturalLoop *loop, double least_weight, LodeLoop *out);
