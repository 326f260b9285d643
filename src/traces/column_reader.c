/* SPDX-License-Identifier: MIT */
/*
 * The addresses of a frame again from their columns. All columns are measured first; then one walk
 * through the invocations takes the next difference of each.
 */
#include "traces/slot_columns.h"

#include <string.h>

typedef struct {
	const uint8_t *symbols, *extra; /* the next ones */
	const uint64_t *table;
	uint32_t n_table;
} Column;

typedef struct {
	const LodeFrameStreams *streams;
	LodeSlotPredictor *predictor;
	Column *columns; /* by slot */
	GArray *tables;  /* uint64_t; of all columns */
	LodeByteCursor classes, addresses, bases, offsets, table;
	LodeByteCursor symbols[LODE_N_SLOT_CLASSES], extra[LODE_N_SLOT_CLASSES];
	uint64_t last_addresses[2]; /* elsewhere, stack */
} ColumnReader;

static void column_reader_init(ColumnReader *self, const LodeFrameStreams *streams)
{
	memset(self, 0, sizeof(*self));
	self->streams = streams;
	self->classes = lode_frame_streams_read(streams, LODE_STREAM_SLOT_CLASS);
	self->addresses = lode_frame_streams_read(streams, LODE_STREAM_SLOT_ADDRESS);
	self->bases = lode_frame_streams_read(streams, LODE_STREAM_SLOT_BASE);
	self->offsets = lode_frame_streams_read(streams, LODE_STREAM_SLOT_OFFSET);
	self->table = lode_frame_streams_read(streams, LODE_STREAM_SLOT_TABLE);
	for (unsigned i = 0; i < LODE_N_SLOT_CLASSES; i++) {
		self->symbols[i] = lode_frame_streams_read(streams, LODE_STREAM_COLUMN + 2 * i);
		self->extra[i] = lode_frame_streams_read(streams, LODE_STREAM_COLUMN + 2 * i + 1);
	}
}

/* The number of extra bytes of these symbols; UINT64_MAX: one of them is none. */
static uint64_t measure(const uint8_t *symbols, size_t n)
{
	uint64_t n_bytes = 0;
	uint8_t greatest = 0;

	for (size_t i = 0; i < n; i++) {
		n_bytes += symbols[i] > LODE_COLUMN_EXTRA ? symbols[i] - LODE_COLUMN_EXTRA : 0;
		greatest = MAX(greatest, symbols[i]);
	}
	return greatest > LODE_COLUMN_MAX_EXTRA ? UINT64_MAX : n_bytes;
}

static bool read_class(ColumnReader *self, uint32_t slot, LodeSlotState *state)
{
	bool has_base = state->slot_class == LODE_SLOT_LOCAL ||
	                state->slot_class == LODE_SLOT_CONTENT;

	if (state->is_absolute || (state->slot_class < LODE_SLOT_STACK && !has_base)) {
		uint64_t *last = &self->last_addresses[state->is_stack];

		*last += lode_varint_read_signed(&self->addresses);
		state->constant = *last;
	}
	if (has_base) {
		uint64_t base = slot - lode_varint_read_signed(&self->bases);

		if (base >= self->predictor->n_slots)
			return false;
		state->base = (uint32_t)base;
	}
	if (state->slot_class == LODE_SLOT_LOCAL)
		state->constant = lode_varint_read_signed(&self->offsets);
	return true;
}

/* Tables may move until all of them are read: a column has the place in the array until then. */
static bool read_table(ColumnReader *self, Column *column, uint32_t n_invocations)
{
	uint64_t n = lode_varint_read(&self->table);

	if (n > LODE_COLUMN_MAX_TABLE || n > n_invocations)
		return false;
	column->n_table = (uint32_t)n;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t zigzag = lode_varint_read(&self->table);

		if (self->table.is_overrun)
			return false;
		g_array_append_val(self->tables, zigzag);
	}
	return true;
}

static bool read_slot(ColumnReader *self, uint32_t slot, uint32_t n_invocations)
{
	LodeSlotState *state = &self->predictor->slots[slot];
	Column *column = &self->columns[slot];
	uint8_t byte = lode_byte_cursor_u8(&self->classes);
	uint64_t n_extra;

	state->slot_class = byte & LODE_COLUMN_CLASS_MASK;
	state->is_stack = (byte & LODE_COLUMN_IS_STACK) != 0;
	state->is_absolute = (byte & LODE_COLUMN_IS_ABSOLUTE) != 0;
	state->is_history = (byte & LODE_COLUMN_IS_HISTORY) != 0;
	if (state->slot_class >= LODE_N_SLOT_CLASSES || !read_class(self, slot, state))
		return false;
	if (byte & LODE_COLUMN_HAS_TABLE && !read_table(self, column, n_invocations))
		return false;
	if (state->slot_class == LODE_SLOT_GLOBAL)
		return true;
	column->symbols = lode_byte_cursor_bytes(&self->symbols[state->slot_class], n_invocations);
	if (column->symbols == NULL)
		return false;
	n_extra = measure(column->symbols, n_invocations);
	column->extra = lode_byte_cursor_bytes(&self->extra[state->slot_class], n_extra);
	return !self->extra[state->slot_class].is_overrun;
}

static bool has_ended(const ColumnReader *self, GError **error)
{
	const LodeFrameStreams *streams = self->streams;

	for (unsigned i = 0; i < LODE_N_SLOT_CLASSES; i++) {
		unsigned stream = LODE_STREAM_COLUMN + 2 * i;

		if (!lode_frame_streams_end(streams, stream, &self->symbols[i], error) ||
			!lode_frame_streams_end(streams, stream + 1, &self->extra[i], error))
			return false;
	}
	return lode_frame_streams_end(streams, LODE_STREAM_SLOT_CLASS, &self->classes, error) &&
	       lode_frame_streams_end(streams, LODE_STREAM_SLOT_ADDRESS, &self->addresses, error) &&
	       lode_frame_streams_end(streams, LODE_STREAM_SLOT_BASE, &self->bases, error) &&
	       lode_frame_streams_end(streams, LODE_STREAM_SLOT_OFFSET, &self->offsets, error) &&
	       lode_frame_streams_end(streams, LODE_STREAM_SLOT_TABLE, &self->table, error);
}

static bool read_slots(ColumnReader *self, const LodeFrameLayout *layout, GError **error)
{
	for (uint32_t i = 0; i < layout->n_blocks; i++) {
		const LodeFrameBlock *block = &layout->blocks[i];

		for (unsigned k = 0; block->n_invocations > 0 && k < block->n_slots; k++) {
			if (!read_slot(self, block->first_slot + k, block->n_invocations))
				return lode_frame_streams_damaged(self->streams,
					LODE_STREAM_SLOT_CLASS, &self->classes, "no slot can be so",
					error);
		}
	}
	return has_ended(self, error);
}

static void place_tables(ColumnReader *self)
{
	const uint64_t *at = (const void *)self->tables->data;

	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		self->columns[i].table = at;
		at += self->columns[i].n_table;
	}
}

static inline uint64_t next_zigzag(Column *column)
{
	uint8_t symbol = *column->symbols++;
	uint64_t value = 0;

	if (symbol < column->n_table)
		return column->table[symbol];
	if (G_LIKELY(symbol < LODE_COLUMN_EXTRA))
		return symbol - column->n_table;
	for (unsigned i = 0; i < (unsigned)symbol - LODE_COLUMN_EXTRA; i++)
		value |= (uint64_t)*column->extra++ << 8 * i;
	return value + (LODE_COLUMN_EXTRA - column->n_table);
}

static inline uint64_t next_address(ColumnReader *self, uint32_t slot, LodeThreadPlace *place)
{
	LodeSlotPredictor *predictor = self->predictor;
	LodeSlotGuess guess;
	uint64_t address;

	if (predictor->slots[slot].slot_class == LODE_SLOT_GLOBAL) {
		address = predictor->slots[slot].constant;
	} else {
		guess = lode_slot_predictor_guess(predictor, slot, place);
		address = lode_slot_guess_address(&guess, predictor->slots[slot].is_absolute,
			predictor->slots[slot].constant,
			lode_unzigzag(next_zigzag(&self->columns[slot])));
		lode_slot_guess_learn(&guess, address);
	}
	lode_slot_predictor_advance(predictor, slot, address, place);
	return address;
}

static void fill_addresses(ColumnReader *self, const LodeFrameLayout *layout, LodeTraceFrame *frame)
{
	uint64_t *address = frame->addresses;
	LodeThreadRun run;

	for (size_t k = 0; lode_thread_run_at(frame, k, &run); k++) {
		LodeThreadPlace *place = &self->predictor->places[run.thread];

		for (size_t i = run.first; i < run.end; i++) {
			const LodeFrameBlock *block = &layout->blocks[frame->blocks[i]];
			uint32_t slot = block->first_slot;

			for (unsigned s = 0; s < block->n_slots; s++)
				*address++ = next_address(self, slot + s, place);
		}
	}
}

bool lode_slot_columns_decode(const LodeFrameStreams *streams, const LodeFrameLayout *layout,
	LodeTraceFrame *frame, GError **error)
{
	g_auto(LodeSlotPredictor) predictor = {0};
	g_autoptr(GArray) tables = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autofree Column *columns = g_new0(Column, layout->n_slots + 1U);
	ColumnReader reader;

	column_reader_init(&reader, streams);
	lode_slot_predictor_init(&predictor, layout->n_slots, frame, layout->n_addresses);
	reader.predictor = &predictor;
	reader.columns = columns;
	reader.tables = tables;
	if (!read_slots(&reader, layout, error))
		return false;
	place_tables(&reader);
	lode_slot_predictor_rewind(&predictor);
	fill_addresses(&reader, layout, frame);
	frame->n_addresses = layout->n_addresses;
	return true;
}

bool lode_slot_columns_count(const LodeFrameStreams *streams, const LodeFrameLayout *layout,
	uint64_t *n_slots, uint64_t *n_references, GError **error)
{
	LodeByteCursor classes = lode_frame_streams_read(streams, LODE_STREAM_SLOT_CLASS);

	for (uint32_t i = 0; i < layout->n_blocks; i++) {
		const LodeFrameBlock *block = &layout->blocks[i];

		for (unsigned k = 0; block->n_invocations > 0 && k < block->n_slots; k++) {
			uint8_t slot_class = lode_byte_cursor_u8(&classes) & LODE_COLUMN_CLASS_MASK;

			if (slot_class >= LODE_N_SLOT_CLASSES)
				return lode_frame_streams_damaged(streams, LODE_STREAM_SLOT_CLASS,
					&classes, "no such class", error);
			n_slots[slot_class]++;
			n_references[slot_class] += block->n_invocations;
		}
	}
	return lode_frame_streams_end(streams, LODE_STREAM_SLOT_CLASS, &classes, error);
}
