/* SPDX-License-Identifier: MIT */
/*
 * Counts of instructions and transfers by number while the trace is read, sorted by place at the
 * end. They are whole numbers until then: doubles would lose units beyond 2⁵³.
 */
#include "ingest/traced/traced_rows.h"

#include "base/arrays/large_array.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/index.h"

#include <stdlib.h>

enum {
	MAX_VALUES = 1 << 28, /* instructions × columns: 2 GiB */
	MAX_TRANSFERS = 1 << 24,
};

void lode_traced_rows_init(LodeTracedRows *self, LodeRecording *recording)
{
	*self = (LodeTracedRows){
		.recording = recording,
		.instructions = g_array_new(FALSE, FALSE, sizeof(LodeTracedInstruction)),
		.values = g_array_new(FALSE, TRUE, sizeof(uint64_t)),
		.transfers = g_array_new(FALSE, FALSE, sizeof(LodeTracedTransfer)),
		.totals = g_new0(uint64_t, recording->events->len),
		.n_columns = recording->events->len,
	};
	lode_id_cache_init(&self->instruction_ids);
	lode_id_cache_init(&self->transfer_ids);
}

void lode_traced_rows_clear(LodeTracedRows *self)
{
	g_clear_pointer(&self->instructions, g_array_unref);
	g_clear_pointer(&self->values, g_array_unref);
	g_clear_pointer(&self->transfers, g_array_unref);
	g_clear_pointer(&self->totals, g_free);
	lode_id_cache_clear(&self->instruction_ids);
	lode_id_cache_clear(&self->transfer_ids);
}

uint32_t lode_traced_rows_find(LodeTracedRows *self, const LodeTracedInstruction *instruction)
{
	const LodeIdKey key = {{instruction->address, instruction->object, 0}};
	bool is_new,
		has_room = (self->instructions->len + 1) * (uint64_t)self->n_columns <= MAX_VALUES;

	self->is_full |= !has_room;
	if (!has_room)
		return LODE_NONE;
	LodeIdSlot *slot = lode_id_cache_find(&self->instruction_ids, &key, &is_new);
	if (is_new) {
		slot->id = self->instructions->len;
		g_array_append_vals(self->instructions, instruction, 1);
		g_array_set_size(self->values, self->instructions->len * self->n_columns);
	}
	return slot->id;
}

const LodeTracedInstruction *lode_traced_rows_instruction(
	const LodeTracedRows *self, uint32_t instruction)
{
	return &g_array_index(self->instructions, LodeTracedInstruction, instruction);
}

void lode_traced_rows_add(LodeTracedRows *self, uint32_t instruction, uint32_t column, uint64_t n)
{
	self->totals[column] += n;
	if (instruction != LODE_NONE)
		g_array_index(self->values, uint64_t,
			(size_t)instruction * self->n_columns + column) += n;
}

void lode_traced_rows_take(LodeTracedRows *self, uint32_t instruction, uint32_t column, uint64_t n)
{
	if (instruction == LODE_NONE)
		return;
	uint64_t *value = &g_array_index(
		self->values, uint64_t, (size_t)instruction * self->n_columns + column);
	n = MIN(n, *value);
	*value -= n;
	self->totals[column] -= n;
}

void lode_traced_rows_add_transfer(
	LodeTracedRows *self, uint32_t source, uint32_t target, uint64_t n)
{
	const LodeIdKey key = {{source, target, 0}};
	bool is_new;

	self->is_full |= self->transfers->len >= MAX_TRANSFERS;
	if (self->is_full)
		return;
	LodeIdSlot *slot = lode_id_cache_find(&self->transfer_ids, &key, &is_new);
	if (is_new) {
		LodeTracedTransfer added = {source, target, 0};
		slot->id = self->transfers->len;
		g_array_append_val(self->transfers, added);
	}
	g_array_index(self->transfers, LodeTracedTransfer, slot->id).count += n;
}

bool lode_traced_rows_check(const LodeTracedRows *self, GError **error)
{
	if (self->is_full)
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"the trace has more than %d instructions and events, or %d jumps",
			MAX_VALUES, MAX_TRANSFERS);
	return !self->is_full;
}

LODE_ORDER_OF_INDICES(compare_instructions, LodeTracedInstruction, LODE_ASCENDING(object),
	LODE_ASCENDING(address))

static void write_instructions(LodeTracedRows *self)
{
	LodeRecording *recording = self->recording;
	guint n = self->instructions->len;
	g_autofree uint32_t *order = g_new(uint32_t, MAX(n, 1));

	for (guint i = 0; i < n; i++)
		order[i] = i;
	if (n > 1)
		g_qsort_with_data(order, (gint)n, sizeof(uint32_t), compare_instructions,
			self->instructions->data);
	recording->instructions = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeRecordedInstruction), n);
	recording->values = g_new(double, MAX((size_t)n * self->n_columns, 1));
	for (guint i = 0; i < n; i++) {
		const LodeTracedInstruction *source = &g_array_index(
			self->instructions, LodeTracedInstruction, order[i]);
		const uint64_t *values = &g_array_index(
			self->values, uint64_t, (size_t)order[i] * self->n_columns);
		LodeRecordedInstruction row = {
			.address = source->address,
			.object = source->object,
			.function = LODE_NONE,
			.file = LODE_NONE,
			.first_value = i * self->n_columns,
			.n_values = self->n_columns,
		};
		for (uint32_t j = 0; j < self->n_columns; j++)
			recording->values[row.first_value + j] = (double)values[j];
		g_array_append_val(recording->instructions, row);
	}
}

static void write_jumps(LodeTracedRows *self)
{
	LodeRecording *recording = self->recording;
	const LodeTracedInstruction *instructions =
		(const LodeTracedInstruction *)self->instructions->data;
	/* A thread began or ended. */
	static const LodeTracedInstruction outside = {0, 0, LODE_NONE};

	recording->jumps = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeRecordedJump), self->transfers->len);
	recording->calls = g_array_new(FALSE, FALSE, sizeof(LodeRecordedCall));
	for (guint i = 0; i < self->transfers->len; i++) {
		const LodeTracedTransfer *edge = &g_array_index(
			self->transfers, LodeTracedTransfer, i);
		const LodeTracedInstruction *source = edge->source != LODE_NONE
		                                              ? &instructions[edge->source]
		                                              : &outside;
		const LodeTracedInstruction *target = edge->target != LODE_NONE
		                                              ? &instructions[edge->target]
		                                              : &outside;
		LodeRecordedJump jump = {
			.source = source->address,
			.target = target->address,
			.object = source->object,
			.target_object = target->object,
			.target_function = LODE_NONE,
			.taken = (double)edge->count,
			.executed = (double)edge->count,
		};
		g_array_append_val(recording->jumps, jump);
	}
	g_array_sort(recording->jumps, lode_recorded_jump_compare);
}

static void write_totals(LodeTracedRows *self)
{
	g_array_set_size(self->recording->totals, self->n_columns);
	for (uint32_t i = 0; i < self->n_columns; i++)
		g_array_index(self->recording->totals, double, i) = (double)self->totals[i];
	if (self->n_unattributed > 0)
		lode_recording_add_unresolved(self->recording,
			"data references before any instruction", NULL,
			(double)self->n_unattributed, 0);
}

bool lode_traced_rows_write(LodeTracedRows *self, GError **error)
{
	size_t row_size = sizeof(uint32_t) + sizeof(LodeRecordedInstruction) +
	                  self->n_columns * sizeof(double);

	if (!lode_traced_rows_check(self, error))
		return false;
	if (!lode_large_array_has_room(row_size, self->instructions->len) ||
		!lode_large_array_has_room(sizeof(LodeRecordedJump), self->transfers->len)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"not enough memory for %u instructions and %u jumps",
			self->instructions->len, self->transfers->len);
		return false;
	}
	write_instructions(self);
	write_jumps(self);
	write_totals(self);
	return true;
}
