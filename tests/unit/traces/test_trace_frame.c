/* SPDX-License-Identifier: MIT */
/* Frames grow to any size, and those that expect to be as large as one before lose nothing. */
#include "traces/frames/trace_frame.h"

enum { N_BLOCKS = 100, N_INVOCATIONS = 700000, FEW = 20000 };

static void add_blocks(LodeBlockDictionary *dictionary)
{
	static const uint32_t sizes[] = {4};
	static const LodeTraceSlot slots[] = {
		{8, 0, LODE_REFERENCE_LOAD}, {8, 0, LODE_REFERENCE_STORE}};

	for (uint32_t i = 0; i < N_BLOCKS; i++) {
		const LodeTraceBlock block = {
			.address = 64 * (uint64_t)i,
			.instruction_sizes = sizes,
			.slots = slots,
			.n_bytes = 4,
			.n_instructions = 1,
			.n_slots = (uint8_t)(i % 3),
		};
		g_assert_cmpuint(lode_block_dictionary_find_or_add(dictionary, &block), ==, i);
	}
}

/* Where each invocation has its thread, block and addresses by its number. */
static void fill(LodeTraceFrame *frame, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		const uint64_t addresses[] = {3 * (uint64_t)i, 3 * (uint64_t)i + 1};

		lode_trace_frame_append(frame, i * 7 % N_BLOCKS, (uint16_t)(i / 5 % 2), addresses);
	}
}

static void check(const LodeTraceFrame *frame, uint32_t n)
{
	size_t address = 0, n_switch = 0;
	bool is_same = true;

	g_assert_cmpuint(frame->n_invocations, ==, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t block = i * 7 % N_BLOCKS;

		is_same &= frame->blocks[i] == block;
		for (unsigned k = 0; k < block % 3; k++)
			is_same &= frame->addresses[address++] == 3 * (uint64_t)i + k;
		if (i % 5 == 0)
			is_same &= frame->switches[n_switch].invocation == i &&
			           frame->switches[n_switch++].thread == i / 5 % 2;
	}
	g_assert_true(is_same);
	g_assert_cmpuint(frame->n_addresses, ==, address);
	g_assert_cmpuint(frame->n_switches, ==, n_switch);
}

static void test_growth(void)
{
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();

	add_blocks(dictionary);
	g_autoptr(LodeTraceFrame) first = lode_trace_frame_new(dictionary);
	fill(first, 0, N_INVOCATIONS);
	check(first, N_INVOCATIONS);
	g_autoptr(LodeTraceFrame) second = lode_trace_frame_new(dictionary);
	lode_trace_frame_expect(second, first);
	fill(second, 0, FEW);
	check(second, FEW);
	/* one of many that stay small */
	g_assert_cmpuint(second->addresses_room * sizeof(uint64_t), <, 1 << 20);
	fill(second, FEW, N_INVOCATIONS / 2);
	check(second, N_INVOCATIONS / 2);
	g_assert_cmpuint(second->blocks_room, ==, first->blocks_room);
	g_assert_cmpuint(second->addresses_room, ==, first->addresses_room);
	/* one that it was not large enough for */
	fill(second, N_INVOCATIONS / 2, 2 * N_INVOCATIONS);
	check(second, 2 * N_INVOCATIONS);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/trace-frame/growth", test_growth);
	return g_test_run();
}
