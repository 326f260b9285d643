/* SPDX-License-Identifier: MIT */
/*
 * Flat rows → the recording: sorted by (object, address) with equal ones summed. The order comes
 * from a stable radix sort over (key, row) pairs, which leaves the rows where they are.
 */
#include "base/error.h"
#include "sources/callgrind_records.h"

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
} Order;

static bool no_memory(GError **error)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "not enough memory to sort the rows");
	return false;
}

static bool order_init(Order *self, size_t n, GError **error)
{
	self->n = n;
	self->pairs = g_try_new(Pair, MAX(n, 1));
	self->scratch = g_try_new(Pair, MAX(n, 1));
	if (n >= UINT32_MAX || self->pairs == NULL || self->scratch == NULL)
		return no_memory(error);
	for (size_t i = 0; i < n; i++)
		self->pairs[i].row = (uint32_t)i;
	return true;
}

static void order_clear(Order *self)
{
	g_free(self->pairs);
	g_free(self->scratch);
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

static bool has_high_address(const LodeCallgrindRecords *records)
{
	uint64_t all = 0;

	for (size_t i = 0; i < records->n_costs; i++)
		all |= records->costs[i].address;
	return all >> ADDRESS_BITS != 0;
}

static void order_costs(Order *order, const LodeCallgrindRecords *records)
{
	const LodeCallgrindCostRecord *costs = records->costs;

	if (!has_high_address(records)) {
		for (size_t i = 0; i < order->n; i++)
			order->pairs[i].key = joint_key(costs[i].object, costs[i].address);
		order_sort(order);
		return;
	}
	for (size_t i = 0; i < order->n; i++)
		order->pairs[i].key = costs[i].address;
	order_sort(order);
	for (size_t i = 0; i < order->n; i++)
		order->pairs[i].key = costs[order->pairs[i].row].object;
	order_sort(order);
}

static size_t count_distinct(const Order *order, const LodeCallgrindCostRecord *costs)
{
	size_t n = 0;

	for (size_t i = 0; i < order->n; i++) {
		const LodeCallgrindCostRecord *cost = &costs[order->pairs[i].row];
		const LodeCallgrindCostRecord *last = &costs[order->pairs[i > 0 ? i - 1 : 0].row];
		n += i == 0 || cost->address != last->address || cost->object != last->object;
	}
	return n;
}

static void add_values(
	const LodeCallgrindRecords *records, const LodeCallgrindCostRecord *cost, double *sums)
{
	const LodeCallgrindLayout *layout = &g_array_index(
		records->layouts, LodeCallgrindLayout, cost->layout);
	const uint64_t *values = records->values + cost->first_value;

	for (unsigned i = 0; i < cost->n_values; i++)
		sums[layout->columns[i]] += (double)values[i];
}

/* The first place with a line wins: which one it is depends on the file only. */
static void merge_place(LodeCallgrindInstruction *into, const LodeCallgrindCostRecord *cost)
{
	if (into->line == 0 && cost->line != 0) {
		into->line = cost->line;
		into->file = cost->file;
	}
}

static void fill_instructions(const LodeCallgrindRecords *records, const Order *order)
{
	LodeCallgrindRecording *recording = records->recording;
	guint n_events = recording->events->len;
	LodeCallgrindInstruction *rows = (LodeCallgrindInstruction *)recording->instructions->data;
	double *values = (double *)recording->values->data;
	size_t n = 0;

	for (size_t i = 0; i < order->n; i++) {
		const LodeCallgrindCostRecord *cost = &records->costs[order->pairs[i].row];
		if (n == 0 || rows[n - 1].address != cost->address ||
			rows[n - 1].object != cost->object) {
			rows[n] = (LodeCallgrindInstruction){
				.address = cost->address,
				.object = cost->object,
				.function = cost->function,
				.file = cost->file,
				.line = cost->line,
				.first_value = (uint32_t)(n * n_events),
			};
			n++;
		}
		merge_place(&rows[n - 1], cost);
		add_values(records, cost, values + (n - 1) * n_events);
	}
}

static bool merge_instructions(const LodeCallgrindRecords *records, GError **error)
{
	LodeCallgrindRecording *recording = records->recording;
	Order order;
	bool is_ok = order_init(&order, records->n_costs, error);

	if (is_ok) {
		order_costs(&order, records);
		size_t n = count_distinct(&order, records->costs);
		is_ok = n * recording->events->len < INT32_MAX || no_memory(error);
		if (is_ok) {
			g_array_set_size(recording->instructions, (guint)n);
			g_array_set_size(recording->values, (guint)(n * recording->events->len));
			fill_instructions(records, &order);
		}
	}
	order_clear(&order);
	return is_ok;
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

static bool merge_jumps(const LodeCallgrindRecords *records, GError **error)
{
	GArray *merged = records->recording->jumps;
	Order order;

	if (!order_init(&order, records->n_jumps, error)) {
		order_clear(&order);
		return false;
	}
	order_jumps(&order, records->jumps);
	for (size_t i = 0; i < order.n; i++) {
		const LodeCallgrindJump *jump = &records->jumps[order.pairs[i].row];
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
	LodeCallgrindJump *jumps = g_try_new0(LodeCallgrindJump, MAX(records->n_calls, 1));

	for (size_t i = 0; i < records->n_calls && jumps != NULL; i++) {
		jumps[i].source = records->calls[i].source;
		jumps[i].target = records->calls[i].target;
		jumps[i].object = records->calls[i].object;
		jumps[i].target_object = records->calls[i].target_object;
	}
	return jumps;
}

static bool is_same_call(const LodeCallgrindCall *a, const LodeCallgrindCall *b)
{
	return a->source == b->source && a->target == b->target && a->object == b->object &&
	       a->target_object == b->target_object;
}

static bool merge_calls(const LodeCallgrindRecords *records, GError **error)
{
	GArray *merged = records->recording->calls;
	g_autofree LodeCallgrindJump *ends = calls_as_jumps(records);
	Order order;

	if (ends == NULL)
		return no_memory(error);
	if (!order_init(&order, records->n_calls, error)) {
		order_clear(&order);
		return false;
	}
	order_jumps(&order, ends);
	for (size_t i = 0; i < order.n; i++) {
		const LodeCallgrindCall *call = &records->calls[order.pairs[i].row];
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
