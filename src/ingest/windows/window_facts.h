/* SPDX-License-Identifier: MIT */
/*
 * The facts that windows give of each instruction, by the number of its code (window_steps.h),
 * until the join knows the instructions. Each visitor fills the fields that are its own:
 *
 *   window_reading    steps, hits, string_runs, string_rounds
 *   window_outcomes   outcomes, unforetold, denormals, underflows
 *   window_accesses   accesses, repeated, strided, stride, lines, pages, line_bytes, split …
 *                     page_changes, line_visits, line_used_bytes, first_accesses, early_accesses
 *   window_calls      compared_calls, same_arguments, compared_results, same_results
 *
 * Private to ingest/.
 */
#pragma once

#include "model/index.h"
#include "model/observed/windows.h"

/* The facts of a code, which are all 0 at first; `facts` has LodeObservedInstruction by number, and
 * is made by g_array_new(FALSE, TRUE, …). Valid until the next call. */
static inline LodeObservedInstruction *lode_window_facts_at(GArray *facts, uint32_t number)
{
	if (number >= facts->len)
		g_array_set_size(facts, number + 1);
	return &LODE_AT(facts, LodeObservedInstruction, number);
}
