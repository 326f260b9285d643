/* SPDX-License-Identifier: MIT */
/* Threads in turns: each thread's own order stays, and turns are as long as was asked for. */
#include "traces/frames/frame_turns.h"

#include "seeds.h"

enum { N_THREADS = 5, N_BLOCKS = 12 };

/* Blocks of 1 to 12 instructions, every third with a data reference at each of its first two. */
static LodeBlockDictionary *new_dictionary(void)
{
	LodeBlockDictionary *dictionary = lode_block_dictionary_new();

	for (unsigned i = 0; i < N_BLOCKS; i++) {
		LodeTraceBlock block = {
			.address = 0x1000 * (i + 1), .n_instructions = (uint8_t)(i + 1)};
		uint32_t sizes[N_BLOCKS];
		LodeTraceSlot slots[2] = {{.size = 8, .kind = LODE_REFERENCE_LOAD},
			{.instruction = (uint8_t)MIN(i, 1),
				.size = 4,
				.kind = LODE_REFERENCE_STORE}};
		for (unsigned j = 0; j < N_BLOCKS; j++)
			sizes[j] = 4;
		block.instruction_sizes = sizes;
		block.n_bytes = 4 * (i + 1);
		block.n_slots = i % 3 == 0 ? 2 : 0;
		block.slots = slots;
		lode_block_dictionary_find_or_add(dictionary, &block);
	}
	return dictionary;
}

static LodeTraceFrame *random_frame(LodeBlockDictionary *dictionary, unsigned n)
{
	LodeTraceFrame *frame = lode_trace_frame_new(dictionary);
	uint64_t number = 0;
	uint16_t thread = 0;

	frame->first_reference = 1000;
	frame->first_instruction = 700;
	for (unsigned i = 0; i < n; i++) {
		if (random_int_range(0, 20) == 0)
			thread = (uint16_t)random_int_range(0, N_THREADS);
		uint64_t addresses[2] = {number, number + 1};
		number += 2;
		lode_trace_frame_append(
			frame, (uint32_t)random_int_range(0, N_BLOCKS), thread, addresses);
	}
	return frame;
}

/* What one thread does, as texts that are compared as a whole. */
static char *story_of(const LodeTraceFrame *frame, uint16_t thread)
{
	GString *story = g_string_new(NULL);
	size_t next_switch = 0, address = 0;
	uint16_t now = 0;

	for (size_t i = 0; i < frame->n_invocations; i++) {
		if (next_switch < frame->n_switches && frame->switches[next_switch].invocation == i)
			now = frame->switches[next_switch++].thread;
		const LodeTraceBlock *block = lode_block_dictionary_at(
			frame->dictionary, frame->blocks[i]);
		for (unsigned j = 0; now == thread && j < block->n_slots; j++)
			g_string_append_printf(
				story, "%" G_GUINT64_FORMAT " ", frame->addresses[address + j]);
		if (now == thread)
			g_string_append_printf(story, "b%u ", frame->blocks[i]);
		address += block->n_slots;
	}
	g_assert_cmpuint(next_switch, ==, frame->n_switches);
	g_assert_cmpuint(address, ==, frame->n_addresses);
	return g_string_free(story, FALSE);
}

static void test_random(void)
{
	LodeBlockDictionary *dictionary = new_dictionary();
	uint64_t quantum = (uint64_t)1 << random_int_range(0, 12);
	g_autoptr(LodeTraceFrame)
		frame = random_frame(dictionary, (unsigned)random_int_range(0, 20000));
	g_autoptr(LodeTraceFrame) turns = lode_frame_turns_new(frame, quantum);

	g_assert_cmpuint(turns->first_reference, ==, frame->first_reference);
	g_assert_cmpuint(turns->first_instruction, ==, frame->first_instruction);
	g_assert_cmpuint(turns->n_references, ==, frame->n_references);
	g_assert_cmpuint(turns->n_instructions, ==, frame->n_instructions);
	g_assert_cmpuint(turns->n_blocks, ==, frame->n_blocks);
	g_assert_cmpuint(turns->first_new_block, ==, frame->first_new_block);
	for (uint16_t thread = 0; thread < N_THREADS; thread++) {
		g_autofree char *expected = story_of(frame, thread);
		g_autofree char *found = story_of(turns, thread);
		g_assert_cmpstr(found, ==, expected);
	}
	lode_block_dictionary_unref(dictionary);
}

/* Two threads, one after the other, of blocks of 1 instruction: they take turns of 3. */
static void test_turns(void)
{
	LodeBlockDictionary *dictionary = new_dictionary();
	g_autoptr(LodeTraceFrame) frame = lode_trace_frame_new(dictionary);
	const uint64_t addresses[2] = {0};

	for (unsigned i = 0; i < 12; i++)
		lode_trace_frame_append(frame, 0, i < 6 ? 1 : 2, addresses);
	g_autoptr(LodeTraceFrame) turns = lode_frame_turns_new(frame, 3);
	g_assert_cmpuint(turns->n_switches, ==, 4);
	for (unsigned i = 0; i < 4; i++) {
		g_assert_cmpuint(turns->switches[i].invocation, ==, 3 * i);
		g_assert_cmpuint(turns->switches[i].thread, ==, 1 + i % 2);
	}
	lode_block_dictionary_unref(dictionary);
}

/* What is far apart in the recorded order stays so: the second thread begins after the first. */
static void test_stretches(void)
{
	LodeBlockDictionary *dictionary = new_dictionary();
	g_autoptr(LodeTraceFrame) frame = lode_trace_frame_new(dictionary);
	const uint64_t addresses[2] = {0};
	const unsigned n = 4 * LODE_FRAME_TURNS_STRETCH;

	for (unsigned i = 0; i < 2 * n; i++)
		lode_trace_frame_append(frame, 1, i < n ? 1 : 2, addresses);
	g_autoptr(LodeTraceFrame) turns = lode_frame_turns_new(frame, 10);
	g_assert_cmpuint(turns->switches[0].thread, ==, 1);
	g_assert_cmpuint(turns->switches[1].invocation, >, n - LODE_FRAME_TURNS_STRETCH);
	lode_block_dictionary_unref(dictionary);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/frame-turns/turns", test_turns);
	g_test_add_func("/frame-turns/stretches", test_stretches);
	add_random_test("/frame-turns/random", test_random, "R02S00000000000000000000000000000011",
		"R02S00000000000000000000000000000012", "R02S00000000000000000000000000000013",
		"R02S00000000000000000000000000000014", "R02S00000000000000000000000000000015",
		"R02S00000000000000000000000000000016", NULL);
	return g_test_run();
}
