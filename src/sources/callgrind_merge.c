/* SPDX-License-Identifier: MIT */
/*
 * Flat rows → the recording: sorted by (object, address) with equal ones summed. The order comes
 * from a stable radix sort over (key, row) pairs, which leaves the rows where they are.
 */
#include "base/error.h"
#include "sources/callgrind_records.h"
#include "sources/large_array.h"

#include <string.h>

enum {
	DIGIT_BITS = 11,
	N_DIGITS = 6, /* 6 × 11 ≥ 64 bits */
	DIGIT_SIZE = 1 << DIGIT_BITS,
	ADDRESS_BITS = 47, /* of a user's address; with 17 bits of object it fits one key */
};

typedef struct {
	uint64_t key;
	uint32_t row;
} Pair;

typedef struct {
	Pair *pairs, *scratch;
	size_t n;
	LodeCallgrindRows memory;
} Order;

static bool no_memory(GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "too many rows to sort");
	return false;
}

static bool order_init(Order *self, size_t n, GError **error)
{
	memset(self, 0, sizeof(*self));
	if (n >= INT32_MAX)
		return no_memory(error);
	if (!lode_callgrind_rows_reserve(&self->memory, (n + 1) * 2 * sizeof(Pair), error))
		return false;
	self->n = n;
	self->pairs = self->memory.data;
	self->scratch = self->pairs + n;
	for (size_t i = 0; i < n; i++)
		self->pairs[i].row = (uint32_t)i;
	return true;
}

static void order_clear(Order *self)
{
	lode_callgrind_rows_release(&self->memory);
}

static void sort_by_digit(Order *self, unsigned digit, size_t *counts)
{
	unsigned shift = digit * DIGIT_BITS;
	size_t sum = 0;

	for (size_t i = 0; i < DIGIT_SIZE; i++) {
		size_t count = counts[i];
		counts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < self->n; i++) {
		Pair pair = self->pairs[i];
		self->scratch[counts[pair.key >> shift & (DIGIT_SIZE - 1)]++] = pair;
	}
	Pair *sorted = self->scratch;
	self->scratch = self->pairs;
	self->pairs = sorted;
}

static void count_digits(const Order *self, size_t counts[N_DIGITS][DIGIT_SIZE])
{
	memset(counts, 0, sizeof(size_t) * N_DIGITS * DIGIT_SIZE);
	for (size_t i = 0; i < self->n; i++) {
		uint64_t key = self->pairs[i].key;
		for (unsigned digit = 0; digit < N_DIGITS; digit++, key >>= DIGIT_BITS)
			counts[digit][key & (DIGIT_SIZE - 1)]++;
	}
}

/* Stable; digits that are the same everywhere cost nothing but their count. */
static void order_sort(Order *self)
{
	g_autofree size_t *counts = g_new(size_t, (size_t)N_DIGITS * DIGIT_SIZE);

	if (self->n < 2)
		return;
	count_digits(self, (size_t(*)[DIGIT_SIZE])counts);
	for (unsigned digit = 0; digit < N_DIGITS; digit++) {
		size_t *own = counts + (size_t)digit * DIGIT_SIZE;
		size_t first = self->pairs[0].key >> digit * DIGIT_BITS & (DIGIT_SIZE - 1);
		if (own[first] != self->n)
			sort_by_digit(self, digit, own);
	}
}

static inline uint64_t joint_key(uint32_t object, uint64_t address)
{
	return (uint64_t)object << ADDRESS_BITS | address;
}

static void order_costs(Order *order, const LodeCallgrindRecords *records)
{
	const LodeCallgrindCostRecord *costs = records->costs.data;
	const LodeCallgrindPlace *places = records->places.data;
	uint64_t all = 0;

	for (size_t i = 0; i < order->n; i++) {
		all |= costs[i].address;
		order->pairs[i].key = joint_key(places[costs[i].place].object, costs[i].address);
	}
	if (all >> ADDRESS_BITS == 0) {
		order_sort(order);
		return;
	}
	for (size_t i = 0; i < order->n; i++)
		order->pairs[i].key = costs[i].address;
	order_sort(order);
	for (size_t i = 0; i < order->n; i++)
		order->pairs[i].key = places[costs[order->pairs[i].row].place].object;
	order_sort(order);
}

/* The longer of the two lists of values takes the sum; values lie apart, so nothing else moves. */
static void add_values(
	double *values, LodeCallgrindInstruction *into, const LodeCallgrindCostRecord *cost)
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
static void merge_instruction(LodeCallgrindInstruction *into, const LodeCallgrindCostRecord *cost,
	const LodeCallgrindPlace *place, double *values)
{
	if (into->line == 0 && cost->line != 0) {
		into->line = cost->line;
		into->file = place->file;
	}
	add_values(values, into, cost);
}

static size_t fill_instructions(
	const LodeCallgrindRecords *records, const Order *order, LodeCallgrindInstruction *rows)
{
	const LodeCallgrindCostRecord *costs = records->costs.data;
	const LodeCallgrindPlace *places = records->places.data;
	size_t n = 0;

	for (size_t i = 0; i < order->n; i++) {
		const LodeCallgrindCostRecord *cost = &costs[order->pairs[i].row];
		const LodeCallgrindPlace *place = &places[cost->place];
		if (n > 0 && rows[n - 1].address == cost->address &&
			rows[n - 1].object == place->object) {
			merge_instruction(&rows[n - 1], cost, place, records->values.data);
			continue;
		}
		rows[n++] = (LodeCallgrindInstruction){
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
	LodeCallgrindRecording *recording = records->recording;
	Order order;

	if (!order_init(&order, records->n_costs, error))
		return false;
	order_costs(&order, records);
	recording->instructions = lode_large_array_new(sizeof(LodeCallgrindInstruction), order.n);
	recording->instructions->len = (guint)fill_instructions(
		records, &order, (LodeCallgrindInstruction *)recording->instructions->data);
	recording->values = records->values.data;
	recording->values_room = records->values.room;
	memset(&records->values, 0, sizeof(records->values));
	order_clear(&order);
	return true;
}

static void order_jumps(Order *order, const LodeCallgrindJump *jumps)
{
	uint64_t all = 0;

	for (size_t i = 0; i < order->n; i++)
		all |= jumps[i].source | jumps[i].target;
	bool is_joint = all >> ADDRESS_BITS == 0;
	for (size_t i = 0; i < order->n; i++)
		order->pairs[i].key = is_joint ? joint_key(jumps[i].target_object, jumps[i].target)
					       : jumps[i].target;
	order_sort(order);
	for (size_t i = 0; i < order->n && !is_joint; i++)
		order->pairs[i].key = jumps[order->pairs[i].row].target_object;
	if (!is_joint)
		order_sort(order);
	for (size_t i = 0; i < order->n; i++) {
		const LodeCallgrindJump *jump = &jumps[order->pairs[i].row];
		order->pairs[i].key = is_joint ? joint_key(jump->object, jump->source)
					       : jump->source;
	}
	order_sort(order);
	for (size_t i = 0; i < order->n && !is_joint; i++)
		order->pairs[i].key = jumps[order->pairs[i].row].object;
	if (!is_joint)
		order_sort(order);
}

static bool is_same_jump(const LodeCallgrindJump *a, const LodeCallgrindJump *b)
{
	return a->source == b->source && a->target == b->target && a->object == b->object &&
	       a->target_object == b->target_object;
}

static bool merge_jumps(LodeCallgrindRecords *records, GError **error)
{
	const LodeCallgrindJump *jumps = records->jumps.data;
	GArray *merged = lode_large_array_new(sizeof(LodeCallgrindJump), records->n_jumps);
	Order order;

	records->recording->jumps = merged;
	if (!order_init(&order, records->n_jumps, error)) {
		order_clear(&order);
		return false;
	}
	order_jumps(&order, jumps);
	for (size_t i = 0; i < order.n; i++) {
		const LodeCallgrindJump *jump = &jumps[order.pairs[i].row];
		LodeCallgrindJump *last = merged->len > 0
						  ? &g_array_index(merged, LodeCallgrindJump,
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

/* A call is sorted as the jump between its ends. */
static LodeCallgrindJump *calls_as_jumps(const LodeCallgrindRecords *records)
{
	const LodeCallgrindCall *calls = records->calls.data;
	LodeCallgrindJump *jumps = g_try_new0(LodeCallgrindJump, MAX(records->n_calls, 1));

	for (size_t i = 0; i < records->n_calls && jumps != NULL; i++) {
		jumps[i].source = calls[i].source;
		jumps[i].target = calls[i].target;
		jumps[i].object = calls[i].object;
		jumps[i].target_object = calls[i].target_object;
	}
	return jumps;
}

static bool is_same_call(const LodeCallgrindCall *a, const LodeCallgrindCall *b)
{
	return a->source == b->source && a->target == b->target && a->object == b->object &&
	       a->target_object == b->target_object;
}

static bool merge_calls(LodeCallgrindRecords *records, GError **error)
{
	const LodeCallgrindCall *calls = records->calls.data;
	GArray *merged = lode_large_array_new(sizeof(LodeCallgrindCall), records->n_calls);
	g_autofree LodeCallgrindJump *ends = calls_as_jumps(records);
	Order order;

	records->recording->calls = merged;
	if (ends == NULL)
		return no_memory(error);
	if (!order_init(&order, records->n_calls, error)) {
		order_clear(&order);
		return false;
	}
	order_jumps(&order, ends);
	for (size_t i = 0; i < order.n; i++) {
		const LodeCallgrindCall *call = &calls[order.pairs[i].row];
		LodeCallgrindCall *last = merged->len > 0
						  ? &g_array_index(merged, LodeCallgrindCall,
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

bool lode_callgrind_merge(LodeCallgrindRecords *records, GError **error)
{
	return merge_instructions(records, error) && merge_jumps(records, error) &&
	       merge_calls(records, error);
}
