/* SPDX-License-Identifier: MIT */
/*
 * Sums of an address trace by instruction, and of changes of control by pairs of them, while the
 * trace is read. Private to ingest/traced/.
 */
#pragma once

#include "base/arrays/id_cache.h"
#include "sources/recording.h"

#include <glib.h>

typedef struct {
	uint64_t run_time_address; /* where it was seen first */
	uint64_t address;          /* in the object */
	uint32_t object;
} LodeTracedInstruction;

typedef struct {
	LodeRecording *recording; /* borrowed */
	GArray *instructions;     /* LodeTracedInstruction */
	GArray *values;           /* uint64_t × instructions × columns */
	GArray *transfers;        /* LodeTracedTransfer */
	LodeIdCache instruction_ids, transfer_ids;
	uint64_t *totals;        /* of each column */
	uint64_t n_unattributed; /* data references without an instruction */
	uint32_t n_columns;
	bool is_full; /* something was left out: an error in the end */
} LodeTracedRows;

/* From one instruction to another; LODE_NONE: a thread began, or ended. */
typedef struct {
	uint32_t source, target;
	uint64_t count;
} LodeTracedTransfer;

/* The recording's events must be complete. */
void lode_traced_rows_init(LodeTracedRows *self, LodeRecording *recording);
void lode_traced_rows_clear(LodeTracedRows *self);

/* The number of an instruction, added when new; LODE_NONE: there are too many. */
uint32_t lode_traced_rows_find(LodeTracedRows *self, const LodeTracedInstruction *instruction);

/* One that was found, borrowed until another one is. */
const LodeTracedInstruction *lode_traced_rows_instruction(
	const LodeTracedRows *self, uint32_t instruction);

/* Adds to a column of an instruction, and to its total; of LODE_NONE to the total alone. */
void lode_traced_rows_add(LodeTracedRows *self, uint32_t instruction, uint32_t column, uint64_t n);

/* Subtracts an added count, at most all of it. */
void lode_traced_rows_take(LodeTracedRows *self, uint32_t instruction, uint32_t column, uint64_t n);

/* Executions of `target` right after `source`, both instructions. */
void lode_traced_rows_add_transfer(
	LodeTracedRows *self, uint32_t source, uint32_t target, uint64_t n);

/* Fails with _LIMIT when there was too much of something. */
bool lode_traced_rows_check(const LodeTracedRows *self, GError **error);

/* Sorts everything into the recording. Fails with _LIMIT as lode_traced_rows_check() does, and
 * where there is no memory for it. */
bool lode_traced_rows_write(LodeTracedRows *self, GError **error);
