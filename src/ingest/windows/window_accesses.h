/* SPDX-License-Identifier: MIT */
/*
 * The data addresses of windows: each load and store of a step, by the registers before it.
 *
 *   step ─▶ operands ─┬─▶ facts of the instruction: stride, lines, pages … (of its first operand)
 *                     └─▶ up to 64 accesses of each operand, chosen by chance ─▶ samples
 *
 * A sample stands for as many accesses as there were to one that was chosen, so that weights are
 * accesses. They are those of executions that count for frequencies. Private to ingest/.
 */
#pragma once

#include "ingest/windows/window_steps.h"

typedef struct LodeMemoryReading LodeMemoryReading;
typedef struct LodeWindowAccesses LodeWindowAccesses;

/* Samples in all; where there would be more, each operand has fewer. */
enum { LODE_WINDOW_SAMPLES = 1 << 17 };

/* Borrows both; `facts` is where the instructions' are kept, by the number of their code
 * (window_facts.h). */
LodeWindowAccesses *lode_window_accesses_new(GArray *facts, const LodePlaces *places);
void lode_window_accesses_free(LodeWindowAccesses *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowAccesses, lode_window_accesses_free)

/* Visits the steps of the recording that the places have selected. */
LodeWindowVisitor lode_window_accesses_visitor(LodeWindowAccesses *self);

/* Ends the facts after the last walk, and adds the samples to `memory`, of which all recordings are
 * frozen. Errors: _CANCELLED. */
bool lode_window_accesses_finish(LodeWindowAccesses *self, LodeMemoryReading *memory,
	const LodeProgress *progress, GError **error);
