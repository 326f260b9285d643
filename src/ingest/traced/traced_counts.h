/* SPDX-License-Identifier: MIT */
/*
 * The sums of an address trace's frames: executions and data references of each instruction, and
 * transfers of control between instructions.
 *
 *   invocations ─▶ counts by block, by pair of blocks of one thread ──fold──▶ by instruction
 *
 * Blocks are numbers of a dictionary, and mean other code once the dictionary or mapping is
 * different: then the counts are folded into those of the instructions. Private to ingest/traced/.
 */
#pragma once

#include "ingest/traced/traced_places.h"
#include "ingest/traced/traced_rows.h"
#include "traces/frames/trace_frame.h"

typedef struct LodeTracedCounts LodeTracedCounts;

/* The columns of its values that it fills itself; others come after them. */
enum {
	LODE_TRACED_EXECUTIONS,
	LODE_TRACED_LOADS,
	LODE_TRACED_STORES,
	LODE_TRACED_MODIFIES,
	LODE_TRACED_N_COLUMNS,
};

/* Counts one trace, into rows that other traces share. Borrows both. */
LodeTracedCounts *lode_traced_counts_new(LodeTracedPlaces *places, LodeTracedRows *rows);
void lode_traced_counts_free(LodeTracedCounts *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTracedCounts, lode_traced_counts_free)

/* Adds a frame; frames in their order, and no mapping changes in the middle of one. Errors: _LIMIT.
 */
bool lode_traced_counts_add(LodeTracedCounts *self, const LodeTraceFrame *frame, GError **error);

/* Never 0; another one where a block of the frame that was added last may be other code than it was
 * before. */
uint32_t lode_traced_counts_generation(const LodeTracedCounts *self);

/* A reference in the frame that was added last. */
typedef struct {
	uint64_t reference; /* its number in the trace */
	uint32_t block;
	uint8_t instruction; /* in the block */
} LodeTracedPlace;

/* The number of the instruction that made it; LODE_NONE: the trace does not say. */
uint32_t lode_traced_counts_find(LodeTracedCounts *self, const LodeTracedPlace *place);

/* The number of an instruction that was executed, by its run-time address; of code that was mapped
 * there meanwhile, that of the code now. 0: LODE_NONE. */
uint32_t lode_traced_counts_find_address(LodeTracedCounts *self, uint64_t address);

/* Counts 1 for an instruction, which may be LODE_NONE: then it is in the total alone. */
void lode_traced_counts_count(LodeTracedCounts *self, uint32_t instruction, uint32_t column);

/* After the last frame: its threads end there, and all that was counted is in the rows. */
void lode_traced_counts_end(LodeTracedCounts *self);
