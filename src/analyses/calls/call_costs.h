/* SPDX-License-Identifier: MIT */
/*
 * Inclusive costs of calls, where only the number of calls is known: the inclusive cost of a
 * function is divided among its callers by how often they call it.
 *
 *   main ──30 calls──▶ a ─┐
 *                         ├─▶ work, 90 s:  60 s for the 40 calls of a, 30 s for the 20 of b
 *   main ──20 calls──▶ b ─┘
 *
 * This is an estimate: it assumes that all calls of a function cost the same. Functions that call
 * each other in a cycle are taken together, and calls inside it cost nothing of their own. Susan L.
 * Graham, Peter B. Kessler, Marshall K. McKusick, "gprof: A Call Graph Execution Profiler", 1982,
 * section 4.
 */
#pragma once

#include "model/profile.h"

/* The cost of each of profile->edges in the unit of an event of any kind; 0 for those that are no
 * calls. The caller frees it. */
double *lode_call_costs_new(const LodeProfile *profile, uint32_t event);
