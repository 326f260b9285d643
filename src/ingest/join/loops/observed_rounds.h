/* SPDX-License-Identifier: MIT */
/*
 * How often windows saw an iteration of a loop end, and how often that was the last one:
 *
 *            ┌──────────┐
 *   ──▶ head ┴▶ … ─▶ latch ─▶     steps of the back edges, and of the ways out
 *
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/loops/natural_loops.h"
#include "model/observed/windows.h"

/* The loop at hand, of a function whose first node is the profile's instruction `first`. Calls do
 * not leave a loop, returns do. `out_rounds`: ends of iterations, exits included. */
void lode_observed_rounds_count(const LodeNaturalLoop *loop, const LodeWindows *windows,
	uint32_t first, uint32_t *out_rounds, uint32_t *out_exits);
