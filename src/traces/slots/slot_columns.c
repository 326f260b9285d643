/* SPDX-License-Identifier: MIT */
/*
 * The addresses of a frame as streams. A symbol is the place of the difference in the column's
 * table, or, after those, a small difference, or the number of the extra bytes of another.
 */
#include "traces/slots/slot_columns.h"

#include "base/arrays/large_array.h"
#include "base/arrays/sort_order.h"
#include "traces/slots/slot_predictor.h"

#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_EXTRA = 0xf0, /* a symbol: + the number of extra bytes, 1 … 8 */
	MAX_EXTRA_BYTES = 8,
	COLUMN_MAX_EXTRA = COLUMN_EXTRA + MAX_EXTRA_BYTES,
	COLUMN_MAX_TABLE = 200, /* differences of a table */
};

/* A slot in the stream of classes: its class, and these. */
enum {
	COLUMN_CLASS_MASK = 0x0f,
	COLUMN_IS_STACK = 0x10,
	COLUMN_HAS_TABLE = 0x20,
	COLUMN_IS_ABSOLUTE = 0x40,
	COLUMN_IS_HISTORY = 0x80,
};

enum {
	WATCHED_BITS = 10,
	WATCHED = 1 << WATCHED_BITS, /* places for differences that may come into the table */
	PREFETCH_DISTANCE = 6,       /* invocations */
	SLICE = 1 << 12,             /* differences that are written at a time */
};

typedef struct {
	uint64_t zigzag;
	uint32_t count;
} Difference;

typedef struct {
	Difference watched[WATCHED];
	unsigned watched_bits; /* of them in use, for this column */
	unsigned n_watched;
	Difference table[WATCHED];
	unsigned n_table;
	LodeFrameStreams *out;
	/* The last addresses written to the address stream, elsewhere and on the stack: the two are
	 * far apart, and differences across would be large. */
	uint64_t last_addresses[2];
	uint64_t *differences; /* of all columns, one after the other */
	uint64_t **columns;    /* by slot: where the next difference goes */
} ColumnWriter;

static Difference *find_watched(ColumnWriter *self, uint64_t zigzag)
{
	uint32_t mask = (1U << self->watched_bits) - 1;
	uint32_t at = (uint32_t)lode_hash_slot(zigzag, self->watched_bits);

	while (self->watched[at].count > 0 && self->watched[at].zigzag != zigzag)
		at = (at + 1) & mask;
	return &self->watched[at];
}

/* Room for `n` differences twice; most columns are short, and emptying all would take longer. */
static void empty_watched(ColumnWriter *self, size_t n)
{
	self->watched_bits = MIN(g_bit_storage(n) + 1, WATCHED_BITS);
	memset(self->watched, 0, sizeof(Difference) << self->watched_bits);
}

LODE_ORDER(compare_counts, Difference, LODE_DESCENDING(count), LODE_ASCENDING(zigzag))

/* Differences too far for a symbol that come three times; the first so many of them are seen. */
static void make_table(ColumnWriter *self, const uint64_t *zigzags, size_t n)
{
	bool has_any = false;

	self->n_table = 0;
	for (size_t i = 0; i < n && !has_any; i++)
		has_any = zigzags[i] >= COLUMN_EXTRA;
	if (!has_any)
		return;
	empty_watched(self, n);
	self->n_watched = 0;
	for (size_t i = 0; i < n; i++) {
		Difference *place;

		/* It has a symbol of its own, however large the table becomes. */
		if (zigzags[i] < COLUMN_EXTRA - COLUMN_MAX_TABLE)
			continue;
		place = find_watched(self, zigzags[i]);
		if (place->count == 0 && ++self->n_watched > WATCHED / 2)
			continue;
		place->zigzag = zigzags[i];
		place->count++;
	}
	for (unsigned i = 0; i < 1U << self->watched_bits; i++) {
		if (self->watched[i].count >= 3)
			self->table[self->n_table++] = self->watched[i];
	}
	qsort(self->table, self->n_table, sizeof(Difference), compare_counts);
	self->n_table = MIN(self->n_table, COLUMN_MAX_TABLE);
}

/* From a difference to its place in the table, in the memory of those that were watched, which are
 * not needed any more. */
static void index_table(ColumnWriter *self)
{
	if (self->n_table == 0)
		return;
	empty_watched(self, self->n_table);
	for (unsigned i = 0; i < self->n_table; i++)
		*find_watched(self, self->table[i].zigzag) = (Difference){
			self->table[i].zigzag, i + 1};
}

static void append_table(ColumnWriter *self)
{
	GByteArray *tables = self->out->streams[LODE_STREAM_SLOT_TABLE];

	if (self->n_table == 0)
		return;
	lode_varint_append(tables, self->n_table);
	for (unsigned i = 0; i < self->n_table; i++)
		lode_varint_append(tables, self->table[i].zigzag);
}

/* Writes the bytes of the value at `*at`, which has room for eight; the symbol gives their number.
 */
static uint8_t write_extra(uint8_t **at, uint64_t value)
{
	unsigned n = (unsigned)(71 - __builtin_clzll(value | 1)) / 8;
	uint64_t bytes = GUINT64_TO_LE(value);

	memcpy(*at, &bytes, sizeof(bytes));
	*at += n;
	return (uint8_t)(COLUMN_EXTRA + n);
}

/* The symbol of a difference; its extra bytes, if any, are written at `*extra`. */
static inline uint8_t symbol_of(ColumnWriter *self, uint64_t zigzag, uint8_t **extra)
{
	unsigned n_table = self->n_table;
	uint32_t place = n_table > 0 && zigzag >= COLUMN_EXTRA - COLUMN_MAX_TABLE
	                         ? find_watched(self, zigzag)->count
	                         : 0;

	if (place > 0)
		return (uint8_t)(place - 1);
	if (zigzag < COLUMN_EXTRA - n_table)
		return (uint8_t)(n_table + zigzag);
	return write_extra(extra, zigzag - (COLUMN_EXTRA - n_table));
}

/* Writes the symbols of `n` differences; gives where extra bytes end that begin at `extra`. */
static uint8_t *write_symbols(
	ColumnWriter *self, const uint64_t *zigzags, size_t n, uint8_t *symbols, uint8_t *extra)
{
	for (size_t i = 0; i < n; i++)
		symbols[i] = symbol_of(self, zigzags[i], &extra);
	return extra;
}

/* In slices: for each, room is made for the most that it can take. */
static void append_column(
	ColumnWriter *self, LodeSlotClass slot_class, const uint64_t *zigzags, size_t n)
{
	GByteArray *symbols = self->out->streams[LODE_STREAM_COLUMN + 2 * slot_class];
	GByteArray *extra = self->out->streams[LODE_STREAM_COLUMN + 2 * slot_class + 1];
	guint at = symbols->len;

	g_byte_array_set_size(symbols, at + (guint)n);
	for (size_t i = 0; i < n; i += SLICE) {
		guint start = extra->len, n_now = (guint)MIN(n - i, SLICE);

		g_byte_array_set_size(extra, start + n_now * MAX_EXTRA_BYTES);
		const uint8_t *end = write_symbols(
			self, zigzags + i, n_now, symbols->data + at + i, extra->data + start);
		g_byte_array_set_size(extra, (guint)(end - extra->data));
	}
}

static bool has_address(const LodeSlotState *state)
{
	LodeSlotClass slot_class = (LodeSlotClass)state->slot_class;

	return state->is_absolute ||
	       (slot_class != LODE_SLOT_LOCAL && slot_class != LODE_SLOT_CONTENT &&
		       slot_class < LODE_SLOT_STACK);
}

static bool has_base(LodeSlotClass slot_class)
{
	return slot_class == LODE_SLOT_LOCAL || slot_class == LODE_SLOT_CONTENT;
}

/* Only what the class needs of address, base and offset: the reader knows by the class. */
static void append_class(ColumnWriter *self, const LodeSlotState *state, uint32_t slot)
{
	LodeSlotClass slot_class = (LodeSlotClass)state->slot_class;
	LodeFrameStreams *out = self->out;
	uint8_t byte = (uint8_t)(slot_class | (state->is_stack ? COLUMN_IS_STACK : 0) |
				 (state->is_absolute ? COLUMN_IS_ABSOLUTE : 0) |
				 (state->is_history ? COLUMN_IS_HISTORY : 0) |
				 (self->n_table > 0 ? COLUMN_HAS_TABLE : 0));

	g_byte_array_append(out->streams[LODE_STREAM_SLOT_CLASS], &byte, 1);
	if (has_address(state)) {
		lode_varint_append_signed(out->streams[LODE_STREAM_SLOT_ADDRESS],
			state->constant - self->last_addresses[state->is_stack]);
		self->last_addresses[state->is_stack] = state->constant;
	}
	if (has_base(slot_class))
		lode_varint_append_signed(
			out->streams[LODE_STREAM_SLOT_BASE], (uint64_t)slot - state->base);
	if (slot_class == LODE_SLOT_LOCAL)
		lode_varint_append_signed(out->streams[LODE_STREAM_SLOT_OFFSET], state->constant);
}

/* The walk through the frame is in program order, columns are by slot: each gets its part of one
 * array that has room for all. */
static void begin_columns(
	ColumnWriter *self, const LodeSlotPredictor *predictor, const LodeFrameLayout *layout)
{
	uint64_t n = 0, *at;

	for (uint32_t i = 0; i < layout->n_blocks; i++) {
		const LodeFrameBlock *block = &layout->blocks[i];

		for (unsigned k = 0; block->n_invocations > 0 && k < block->n_slots; k++)
			if (predictor->slots[block->first_slot + k].slot_class != LODE_SLOT_GLOBAL)
				n += block->n_invocations;
	}
	self->differences = at = g_new(uint64_t, n + 1);
	lode_large_array_advise(at, n * sizeof(*at));
	self->columns = g_new(uint64_t *, predictor->n_slots + 1U);
	for (uint32_t i = 0; i < layout->n_blocks; i++) {
		const LodeFrameBlock *block = &layout->blocks[i];

		for (unsigned k = 0; block->n_invocations > 0 && k < block->n_slots; k++) {
			uint32_t slot = block->first_slot + k;

			self->columns[slot] = at;
			if (predictor->slots[slot].slot_class != LODE_SLOT_GLOBAL)
				at += block->n_invocations;
		}
	}
}

static uint64_t difference_of(
	const LodeSlotState *state, const LodeSlotGuess *guess, uint64_t address)
{
	return lode_zigzag(
		lode_slot_guess_difference(guess, state->is_absolute, state->constant, address));
}

/* The slots of successive invocations lie anywhere in memory, where the processor expects nothing.
 */
static void prefetch_columns(
	const ColumnWriter *self, const LodeSlotPredictor *predictor, const LodeFrameBlock *block)
{
	uint32_t slot = block->first_slot;

	__builtin_prefetch(&self->columns[slot], 1);
	__builtin_prefetch(&predictor->slots[slot], 1);
	__builtin_prefetch(&predictor->slots[slot + 1], 1);
}

/* In program order, as the predictor learns in it; the reader predicts the same. */
static void fill_columns(ColumnWriter *self, LodeSlotPredictor *predictor,
	const LodeTraceFrame *frame, const LodeFrameLayout *layout)
{
	const uint64_t *address = frame->addresses;
	LodeThreadRun run;

	for (size_t k = 0; lode_thread_run_at(frame, k, &run); k++) {
		LodeThreadPlace *place = &predictor->places[run.thread];

		for (size_t i = run.first; i < run.end; i++) {
			const LodeFrameBlock *block = &layout->blocks[frame->blocks[i]];
			uint32_t slot = block->first_slot;
			uint32_t ahead = frame->blocks[MIN(i + PREFETCH_DISTANCE, run.end - 1)];

			prefetch_columns(self, predictor, &layout->blocks[ahead]);
			for (unsigned s = 0; s < block->n_slots; s++, slot++, address++) {
				LodeSlotGuess guess = lode_slot_predictor_guess(
					predictor, slot, place);

				if (predictor->slots[slot].slot_class != LODE_SLOT_GLOBAL)
					*self->columns[slot]++ = difference_of(
						&predictor->slots[slot], &guess, *address);
				lode_slot_guess_learn(&guess, *address);
				lode_slot_predictor_advance(predictor, slot, *address, place);
			}
		}
	}
}

static void append_columns(
	ColumnWriter *self, const LodeSlotPredictor *predictor, const LodeFrameLayout *layout)
{
	for (uint32_t i = 0; i < layout->n_blocks; i++) {
		const LodeFrameBlock *block = &layout->blocks[i];

		for (unsigned k = 0; block->n_invocations > 0 && k < block->n_slots; k++) {
			uint32_t slot = block->first_slot + k, n = block->n_invocations;
			const LodeSlotState *state = &predictor->slots[slot];
			const uint64_t *column = self->columns[slot] - n;

			self->n_table = 0;
			if (state->slot_class != LODE_SLOT_GLOBAL)
				make_table(self, column, n);
			append_class(self, state, slot);
			if (state->slot_class == LODE_SLOT_GLOBAL)
				continue;
			append_table(self);
			index_table(self);
			append_column(self, (LodeSlotClass)state->slot_class, column, n);
		}
	}
}

void lode_slot_columns_encode(LodeSlotPredictor *predictor, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, LodeFrameStreams *out)
{
	g_autofree ColumnWriter *writer = g_new0(ColumnWriter, 1);

	writer->out = out;
	begin_columns(writer, predictor, layout);
	lode_slot_predictor_rewind(predictor);
	fill_columns(writer, predictor, frame, layout);
	append_columns(writer, predictor, layout);
	g_free(writer->differences);
	g_free(writer->columns);
}

/* ---- of residuals that are not 0 ---- */

/* The symbols are those of zeros already. */
static uint8_t *write_symbols_at(ColumnWriter *self, const uint64_t *zigzags,
	const uint32_t *numbers, size_t n, uint8_t *symbols, uint8_t *extra)
{
	for (size_t i = 0; i < n; i++)
		symbols[numbers[i]] = symbol_of(self, zigzags[i], &extra);
	return extra;
}

static void append_residuals(ColumnWriter *self, LodeSlotClass slot_class,
	const LodeSlotResiduals *residuals, uint32_t slot, uint32_t n_invocations)
{
	GByteArray *symbols = self->out->streams[LODE_STREAM_COLUMN + 2 * slot_class];
	GByteArray *extra = self->out->streams[LODE_STREAM_COLUMN + 2 * slot_class + 1];
	uint32_t first = residuals->first[slot], end = residuals->first[slot + 1];
	guint at = symbols->len;

	g_byte_array_set_size(symbols, at + n_invocations);
	memset(symbols->data + at, (int)self->n_table, n_invocations);
	for (uint32_t i = first; i < end; i += SLICE) {
		guint start = extra->len, n_now = MIN(end - i, SLICE);

		g_byte_array_set_size(extra, start + n_now * MAX_EXTRA_BYTES);
		const uint8_t *extra_end = write_symbols_at(self, residuals->zigzags + i,
			residuals->numbers + i, n_now, symbols->data + at, extra->data + start);
		g_byte_array_set_size(extra, (guint)(extra_end - extra->data));
	}
}

void lode_slot_columns_encode_residuals(LodeSlotPredictor *predictor, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, LodeFrameStreams *out)
{
	g_autofree ColumnWriter *writer = g_new0(ColumnWriter, 1);
	g_auto(LodeSlotResiduals) residuals = {0};

	writer->out = out;
	if (!lode_slot_residuals_init(&residuals, predictor, frame, layout)) {
		lode_slot_columns_encode(predictor, frame, layout, out);
		return;
	}
	for (uint32_t i = 0; i < layout->n_blocks; i++) {
		const LodeFrameBlock *block = &layout->blocks[i];

		for (unsigned k = 0; block->n_invocations > 0 && k < block->n_slots; k++) {
			uint32_t slot = block->first_slot + k;
			const LodeSlotState *state = &predictor->slots[slot];

			make_table(writer, residuals.zigzags + residuals.first[slot],
				lode_slot_residuals_count(&residuals, slot));
			append_class(writer, state, slot);
			if (state->slot_class == LODE_SLOT_GLOBAL)
				continue;
			append_table(writer);
			index_table(writer);
			append_residuals(writer, (LodeSlotClass)state->slot_class, &residuals, slot,
				block->n_invocations);
		}
	}
}

/* --- reading: all columns are measured first; then one walk through the invocations takes the next
 * residual of each --- */

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

/* The number of extra bytes of these symbols; UINT64_MAX: one of them is not a symbol. */
static uint64_t measure(const uint8_t *symbols, size_t n)
{
	uint64_t n_bytes = 0;
	uint8_t greatest = 0;

	for (size_t i = 0; i < n; i++) {
		n_bytes += symbols[i] > COLUMN_EXTRA ? symbols[i] - COLUMN_EXTRA : 0;
		greatest = MAX(greatest, symbols[i]);
	}
	return greatest > COLUMN_MAX_EXTRA ? UINT64_MAX : n_bytes;
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

	if (n > COLUMN_MAX_TABLE || n > n_invocations)
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

	state->slot_class = byte & COLUMN_CLASS_MASK;
	state->is_stack = (byte & COLUMN_IS_STACK) != 0;
	state->is_absolute = (byte & COLUMN_IS_ABSOLUTE) != 0;
	state->is_history = (byte & COLUMN_IS_HISTORY) != 0;
	if (state->slot_class >= LODE_N_SLOT_CLASSES || !read_class(self, slot, state))
		return false;
	if (byte & COLUMN_HAS_TABLE && !read_table(self, column, n_invocations))
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
	if (G_LIKELY(symbol < COLUMN_EXTRA))
		return symbol - column->n_table;
	for (unsigned i = 0; i < (unsigned)symbol - COLUMN_EXTRA; i++)
		value |= (uint64_t)*column->extra++ << 8 * i;
	return value + (COLUMN_EXTRA - column->n_table);
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
	g_autoptr(GArray) tables = g_array_sized_new(FALSE, FALSE, sizeof(uint64_t), 1);
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
			uint8_t slot_class = lode_byte_cursor_u8(&classes) & COLUMN_CLASS_MASK;

			if (slot_class >= LODE_N_SLOT_CLASSES)
				return lode_frame_streams_damaged(streams, LODE_STREAM_SLOT_CLASS,
					&classes, "no such class", error);
			n_slots[slot_class]++;
			n_references[slot_class] += block->n_invocations;
		}
	}
	return lode_frame_streams_end(streams, LODE_STREAM_SLOT_CLASS, &classes, error);
}
