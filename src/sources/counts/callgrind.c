/* SPDX-License-Identifier: MIT */
/*
 * Callgrind files → one recording: opens the files, has each scanned into flat rows, has the rows
 * merged, and checks the sums against the files' own totals.
 */
#include "sources/counts/callgrind.h"

#include "base/arrays/large_array.h"
#include "base/bits.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "sources/counts/callgrind_records.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

/* --- rows that grow --- */

/* The memory of the flat rows between a callgrind file's text and its recording. */

bool lode_callgrind_rows_reserve(LodeCallgrindRows *self, size_t size, GError **error)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *data = self->data == NULL ? mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0)
	                                : mremap(self->data, self->room, size, MREMAP_MAYMOVE);

	if (data == MAP_FAILED) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"not enough memory for %zu bytes of rows", size);
		return false;
	}
	madvise(data, size, MADV_HUGEPAGE);
	self->data = data;
	self->room = size;
	return true;
}

static void rows_release(LodeCallgrindRows *self)
{
	if (self->data != NULL)
		munmap(self->data, self->room);
	memset(self, 0, sizeof(*self));
}

/*
 * `text_size` is that of all files together. A line of self cost has at least two bytes, as has a
 * value; a jump 11 and a call 12.
 */
static bool records_init(LodeCallgrindRecords *self, size_t text_size, GError **error)
{
	size_t margin = 1 << 12;

	memset(self, 0, sizeof(*self));
	self->recording = lode_recording_new();
	self->name_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->object_ids = g_hash_table_new(g_str_hash, g_str_equal);
	self->has_totals = true;
	return lode_callgrind_rows_reserve(&self->places,
		       (text_size / 4 + margin) * sizeof(LodeCallgrindPlace), error) &&
	       lode_callgrind_rows_reserve(&self->costs,
		       (text_size / 2 + margin) * sizeof(LodeCallgrindCostRecord), error) &&
	       lode_callgrind_rows_reserve(
		       &self->values, (text_size / 2 + margin) * sizeof(double), error) &&
	       lode_callgrind_rows_reserve(
		       &self->jumps, (text_size / 11 + margin) * sizeof(LodeRecordedJump), error) &&
	       lode_callgrind_rows_reserve(
		       &self->calls, (text_size / 12 + margin) * sizeof(LodeRecordedCall), error);
}

static void records_clear(LodeCallgrindRecords *self)
{
	lode_recording_free(self->recording);
	g_clear_pointer(&self->name_ids, g_hash_table_unref);
	g_clear_pointer(&self->object_ids, g_hash_table_unref);
	rows_release(&self->places);
	rows_release(&self->costs);
	rows_release(&self->values);
	rows_release(&self->jumps);
	rows_release(&self->calls);
}

/* --- sorted and summed --- */

/*
 * Flat rows → the recording: sorted by (object, address) with equal ones summed. The order comes
 * from a stable radix sort over words that hold a key above the number of a row, so that the rows
 * stay where they are:
 *
 *   63         …          row_bits … 0
 *   │ object │ address │    row      │   where all of that fits; else piece by piece
 */

enum {
	DIGIT_BITS = 11,
	N_DIGITS = 6, /* 6 × 11 ≥ 64 bits */
	DIGIT_SIZE = 1 << DIGIT_BITS,
	PREFETCH = 16, /* rows ahead */
};

/* The key by which rows are sorted: an address in an object. */
typedef struct {
	uint64_t address;
	uint32_t object;
} Place;

typedef Place (*PlaceFunc)(const void *rows, uint32_t row);

typedef struct {
	uint64_t *words, *scratch;
	size_t n;
	unsigned row_bits;
	LodeCallgrindRows memory;
} Order;

static unsigned bit_length(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

static bool order_init(Order *self, size_t n, GError **error)
{
	memset(self, 0, sizeof(*self));
	if (n >= INT32_MAX) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "too many rows to sort");
		return false;
	}
	if (!lode_callgrind_rows_reserve(&self->memory, (n + 1) * 2 * sizeof(uint64_t), error))
		return false;
	self->n = n;
	self->row_bits = bit_length(n);
	self->words = self->memory.data;
	self->scratch = self->words + n;
	for (size_t i = 0; i < n; i++)
		self->words[i] = i;
	return true;
}

static void order_clear(Order *self)
{
	rows_release(&self->memory);
}

static inline uint32_t order_row(const Order *self, size_t index)
{
	return (uint32_t)(self->words[index] & (LODE_BIT(self->row_bits) - 1));
}

static void sort_by_digit(Order *self, unsigned shift, size_t *counts)
{
	size_t sum = 0;

	for (size_t i = 0; i < DIGIT_SIZE; i++) {
		size_t count = counts[i];
		counts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < self->n; i++) {
		uint64_t word = self->words[i];
		self->scratch[counts[word >> shift & (DIGIT_SIZE - 1)]++] = word;
	}
	uint64_t *sorted = self->scratch;
	self->scratch = self->words;
	self->words = sorted;
}

static void count_digits(const Order *self, size_t counts[N_DIGITS][DIGIT_SIZE], unsigned n_digits)
{
	memset(counts, 0, sizeof(size_t) * n_digits * DIGIT_SIZE);
	for (size_t i = 0; i < self->n; i++) {
		uint64_t key = self->words[i] >> self->row_bits;
		for (unsigned digit = 0; digit < n_digits; digit++, key >>= DIGIT_BITS)
			counts[digit][key & (DIGIT_SIZE - 1)]++;
	}
}

/* Stable; digits that are the same everywhere cost nothing but their count. */
static void order_sort(Order *self, unsigned key_bits)
{
	unsigned n_digits = (key_bits + DIGIT_BITS - 1) / DIGIT_BITS;
	g_autofree size_t *counts = g_new(size_t, (size_t)N_DIGITS * DIGIT_SIZE);

	if (self->n < 2)
		return;
	count_digits(self, (size_t(*)[DIGIT_SIZE])counts, n_digits);
	for (unsigned digit = 0; digit < n_digits; digit++) {
		size_t *own = counts + (size_t)digit * DIGIT_SIZE;
		unsigned shift = self->row_bits + digit * DIGIT_BITS;
		if (own[self->words[0] >> shift & (DIGIT_SIZE - 1)] != self->n)
			sort_by_digit(self, shift, own);
	}
}

typedef enum {
	PIECE_WHOLE, /* object above address */
	PIECE_LOW,   /* what fits of the address */
	PIECE_HIGH,  /* the rest of it */
	PIECE_OBJECT,
} Piece;

/* Sorts what is in order already by one more, higher piece of the key. */
static inline void order_by_piece(
	Order *self, const void *rows, PlaceFunc place_of, Piece piece, unsigned address_bits)
{
	unsigned room = 64 - self->row_bits;

	for (size_t i = 0; i < self->n; i++) {
		uint32_t row = order_row(self, i);
		Place place = place_of(rows, row);
		uint64_t key = piece == PIECE_WHOLE
		                       ? (uint64_t)place.object << address_bits | place.address
		               : piece == PIECE_LOW  ? place.address
		               : piece == PIECE_HIGH ? place.address >> room
		                                     : place.object;
		self->words[i] = key << self->row_bits | row;
	}
	order_sort(self, room);
}

static inline __attribute__((always_inline)) void order_by(
	Order *self, const void *rows, PlaceFunc place_of)
{
	uint64_t addresses = 0;
	uint32_t objects = 0;

	for (size_t i = 0; i < self->n; i++) {
		Place place = place_of(rows, (uint32_t)i);
		addresses |= place.address;
		objects |= place.object;
	}
	unsigned address_bits = bit_length(addresses);
	if (address_bits + bit_length(objects) + self->row_bits <= 64) {
		order_by_piece(self, rows, place_of, PIECE_WHOLE, address_bits);
		return;
	}
	/* the least piece first: each sort is stable, and keeps the order of those before */
	order_by_piece(self, rows, place_of, PIECE_LOW, 0);
	order_by_piece(self, rows, place_of, PIECE_HIGH, 0);
	order_by_piece(self, rows, place_of, PIECE_OBJECT, 0);
}

static inline Place cost_place(const void *rows, uint32_t row)
{
	const LodeCallgrindRecords *records = rows;
	const LodeCallgrindCostRecord *cost = (const LodeCallgrindCostRecord *)records->costs.data +
	                                      row;
	const LodeCallgrindPlace *places = records->places.data;

	return (Place){cost->address, places[cost->place].object};
}

/* The longer of the two lists of values takes the sum; values lie apart, so nothing else moves. */
static void add_values(
	double *values, LodeRecordedInstruction *into, const LodeCallgrindCostRecord *cost)
{
	uint32_t from = cost->first_value, n = cost->n_values;

	if (n > into->n_values) {
		from = into->first_value;
		n = into->n_values;
		into->first_value = cost->first_value;
		into->n_values = cost->n_values;
	}
	for (uint32_t i = 0; i < n; i++)
		values[into->first_value + i] += values[from + i];
}

/* The first place with a line wins: which one it is depends on the files only. */
static void merge_instruction(LodeRecordedInstruction *into, const LodeCallgrindCostRecord *cost,
	const LodeCallgrindPlace *place, double *values)
{
	if (into->line == 0 && cost->line != 0) {
		into->line = cost->line;
		into->file = place->file;
	}
	add_values(values, into, cost);
}

static size_t fill_instructions(
	const LodeCallgrindRecords *records, const Order *order, LodeRecordedInstruction *rows)
{
	const LodeCallgrindCostRecord *costs = records->costs.data;
	const LodeCallgrindPlace *places = records->places.data;
	size_t n = 0;

	for (size_t i = 0; i < order->n; i++) {
		const LodeCallgrindCostRecord *cost = &costs[order_row(order, i)];
		/* rows come in the order of addresses, and lie in that of the file */
		__builtin_prefetch(&costs[order_row(order, MIN(i + PREFETCH, order->n - 1))]);
		const LodeCallgrindPlace *place = &places[cost->place];
		if (n > 0 && rows[n - 1].address == cost->address &&
			rows[n - 1].object == place->object) {
			merge_instruction(&rows[n - 1], cost, place, records->values.data);
			continue;
		}
		rows[n++] = (LodeRecordedInstruction){
			.address = cost->address,
			.object = place->object,
			.function = place->function,
			.file = place->file,
			.line = cost->line,
			.first_value = cost->first_value,
			.n_values = cost->n_values,
		};
	}
	return n;
}

static bool merge_instructions(LodeCallgrindRecords *records, GError **error)
{
	LodeRecording *recording = records->recording;
	Order order;

	if (!order_init(&order, records->n_costs, error))
		return false;
	order_by(&order, records, cost_place);
	recording->instructions = lode_large_array_new(sizeof(LodeRecordedInstruction), order.n);
	recording->instructions->len = (guint)fill_instructions(
		records, &order, (LodeRecordedInstruction *)recording->instructions->data);
	recording->values = records->values.data;
	recording->values_room = records->values.room;
	memset(&records->values, 0, sizeof(records->values));
	order_clear(&order);
	return true;
}

static inline Place jump_source(const void *rows, uint32_t row)
{
	const LodeRecordedJump *jump = (const LodeRecordedJump *)rows + row;

	return (Place){jump->source, jump->object};
}

static inline Place jump_target(const void *rows, uint32_t row)
{
	const LodeRecordedJump *jump = (const LodeRecordedJump *)rows + row;

	return (Place){jump->target, jump->target_object};
}

static inline Place call_source(const void *rows, uint32_t row)
{
	const LodeRecordedCall *call = (const LodeRecordedCall *)rows + row;

	return (Place){call->source, call->object};
}

static inline Place call_target(const void *rows, uint32_t row)
{
	const LodeRecordedCall *call = (const LodeRecordedCall *)rows + row;

	return (Place){call->target, call->target_object};
}

static bool is_same_jump(const LodeRecordedJump *a, const LodeRecordedJump *b)
{
	return a->source == b->source && a->target == b->target && a->object == b->object &&
	       a->target_object == b->target_object;
}

static bool merge_jumps(LodeCallgrindRecords *records, GError **error)
{
	const LodeRecordedJump *jumps = records->jumps.data;
	GArray *merged = lode_large_array_new(sizeof(LodeRecordedJump), records->n_jumps);
	Order order;

	records->recording->jumps = merged;
	if (!order_init(&order, records->n_jumps, error)) {
		order_clear(&order);
		return false;
	}
	order_by(&order, jumps, jump_target);
	order_by(&order, jumps, jump_source);
	for (size_t i = 0; i < order.n; i++) {
		const LodeRecordedJump *jump = &jumps[order_row(&order, i)];
		LodeRecordedJump *last = merged->len > 0 ? &g_array_index(merged, LodeRecordedJump,
								   merged->len - 1)
		                                         : NULL;
		if (last != NULL && is_same_jump(last, jump)) {
			last->taken += jump->taken;
			last->executed += jump->executed;
			last->is_conditional |= jump->is_conditional;
		} else {
			g_array_append_val(merged, *jump);
		}
	}
	order_clear(&order);
	return true;
}

static bool is_same_call(const LodeRecordedCall *a, const LodeRecordedCall *b)
{
	return a->source == b->source && a->target == b->target && a->object == b->object &&
	       a->target_object == b->target_object;
}

static bool merge_calls(LodeCallgrindRecords *records, GError **error)
{
	const LodeRecordedCall *calls = records->calls.data;
	GArray *merged = lode_large_array_new(sizeof(LodeRecordedCall), records->n_calls);
	Order order;

	records->recording->calls = merged;
	if (!order_init(&order, records->n_calls, error)) {
		order_clear(&order);
		return false;
	}
	order_by(&order, calls, call_target);
	order_by(&order, calls, call_source);
	for (size_t i = 0; i < order.n; i++) {
		const LodeRecordedCall *call = &calls[order_row(&order, i)];
		LodeRecordedCall *last = merged->len > 0 ? &g_array_index(merged, LodeRecordedCall,
								   merged->len - 1)
		                                         : NULL;
		if (last != NULL && is_same_call(last, call))
			last->count += call->count;
		else
			g_array_append_val(merged, *call);
	}
	order_clear(&order);
	return true;
}

/* --- the reader --- */

/* Callgrind writes as `totals:` what it summed while writing, so that any difference is damage. */
static bool check_totals(const LodeCallgrindRecords *records, GError **error)
{
	const LodeRecording *recording = records->recording;
	guint n_events = recording->events->len;
	double sums[LODE_CALLGRIND_MAX_EVENTS] = {0};

	if (!records->has_totals)
		return true;
	for (guint i = 0; i < recording->instructions->len; i++) {
		const LodeRecordedInstruction *instruction = &g_array_index(
			recording->instructions, LodeRecordedInstruction, i);
		for (uint32_t j = 0; j < instruction->n_values; j++)
			sums[j] += recording->values[instruction->first_value + j];
	}
	for (guint i = 0; i < n_events; i++) {
		double total = g_array_index(recording->totals, double, i);
		if (fabs(sums[i] - total) <= 1e-9 * total)
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"the costs of event '%s' sum to %.0f but the file says %.0f",
			(char *)recording->events->pdata[i], sums[i], total);
		return false;
	}
	return true;
}

static LodeRecording *finish(LodeCallgrindRecords *records, GError **error)
{
	if (!merge_instructions(records, error) || !merge_jumps(records, error) ||
		!merge_calls(records, error) || !check_totals(records, error))
		return NULL;
	return g_steal_pointer(&records->recording);
}

static GPtrArray *open_files(
	const char *const *paths, size_t n_paths, size_t *out_size, GError **error)
{
	g_autoptr(GPtrArray)
		files = g_ptr_array_new_with_free_func((GDestroyNotify)lode_input_file_close);
	size_t size = 0;

	for (size_t i = 0; i < n_paths; i++) {
		LodeInputFile *file = lode_input_file_open_unpacked(paths[i], error);
		if (file == NULL)
			return NULL;
		g_ptr_array_add(files, file);
		size += file->size;
	}
	*out_size = size;
	return g_steal_pointer(&files);
}

/* One file's text at a time is in memory: the rows hold copies of its names. */
static bool scan_files(LodeCallgrindRecords *records, const GPtrArray *files,
	const LodeProgress *progress, GError **error)
{
	for (guint i = 0; i < files->len; i++) {
		const LodeInputFile *file = files->pdata[i];
		g_autofree char *text = lode_input_file_load(file, 0, file->size, error);
		if (text == NULL)
			return false;
		if (!lode_callgrind_scan(records, text, file->size, progress, error)) {
			g_prefix_error(error, "%s: ", file->path);
			return false;
		}
	}
	return true;
}

LodeRecording *lode_callgrind_read(
	const char *const *paths, size_t n_paths, const LodeProgress *progress, GError **error)
{
	LodeCallgrindRecords records;
	LodeRecording *recording = NULL;
	size_t size;
	g_autoptr(GPtrArray) files = open_files(paths, n_paths, &size, error);

	if (files == NULL)
		return NULL;
	if (records_init(&records, size, error) && scan_files(&records, files, progress, error)) {
		records.recording->bytes_read = size;
		recording = finish(&records, error);
		if (recording == NULL)
			g_prefix_error(error, "%s%s: ", n_paths > 0 ? paths[0] : "callgrind",
				n_paths > 1 ? " and others" : "");
	}
	records_clear(&records);
	return recording;
}

LodeRecording *lode_callgrind_read_text(
	const char *name, const char *text, size_t size, GError **error)
{
	LodeCallgrindRecords records;
	LodeRecording *recording = NULL;

	if (records_init(&records, size, error) &&
		lode_callgrind_scan(&records, text, size, NULL, error)) {
		records.recording->bytes_read = size;
		recording = finish(&records, error);
	}
	if (recording == NULL)
		g_prefix_error(error, "%s: ", name);
	records_clear(&records);
	return recording;
}

bool lode_callgrind_is_format(const char *data, size_t size)
{
	static const char *const starts[] = {
		"# callgrind format", "version: 1\n", "creator: callgrind"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (size >= strlen(starts[i]) && memcmp(data, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}
