/* SPDX-License-Identifier: MIT */
/* Which invocations are sampled, and where their addresses begin, against counting them all. */
#include "seeds.h"
#include "traces/frames/frame_sample.h"

enum { N_BLOCKS = 3000, N_INVOCATIONS = 150000 };

/* Blocks without slots too, most of them rare. */
static void add_blocks(LodeBlockDictionary *dictionary)
{
	static const uint32_t sizes[] = {4};
	static const LodeTraceSlot slots[] = {{8, 0, LODE_REFERENCE_LOAD},
		{8, 0, LODE_REFERENCE_STORE}, {4, 0, LODE_REFERENCE_LOAD}};

	for (uint32_t i = 0; i < N_BLOCKS; i++) {
		const LodeTraceBlock block = {
			.address = 64 * (uint64_t)i,
			.instruction_sizes = sizes,
			.slots = slots,
			.n_bytes = 4,
			.n_instructions = 1,
			.n_slots = (uint8_t)random_int_range(0, 4),
		};
		g_assert_cmpuint(lode_block_dictionary_find_or_add(dictionary, &block), ==, i);
	}
}

static LodeTraceFrame *random_frame(void)
{
	static const uint64_t addresses[3];
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();
	uint16_t thread = 0;

	add_blocks(dictionary);
	LodeTraceFrame *frame = lode_trace_frame_new(dictionary);
	for (unsigned i = 0; i < N_INVOCATIONS; i++) {
		uint32_t most = random_int_range(0, 8) == 0 ? N_BLOCKS : 20;
		if (random_int_range(0, 500) == 0)
			thread = (uint16_t)random_int_range(0, 4);
		lode_trace_frame_append(
			frame, (uint32_t)random_int_range(0, (gint32)most), thread, addresses);
	}
	return frame;
}

static void check(
	const LodeTraceFrame *frame, const LodeFrameLayout *layout, const LodeFrameSampleSize *size)
{
	g_auto(LodeFrameSample) sample = {0};
	g_autofree uint32_t *n_seen = g_new0(uint32_t, N_BLOCKS);
	uint32_t address = 0, n_stretch = 0;
	size_t n_switch = 0;

	lode_frame_sample_init(&sample, frame, layout, size);
	for (uint32_t i = 0; i < frame->n_invocations; i++) {
		const LodeFrameStretch *stretch = &g_array_index(
			sample.stretches, LodeFrameStretch, n_stretch);
		uint32_t block = frame->blocks[i];
		bool is_wanted = size == NULL || n_seen[block]++ < size->first ||
		                 i % LODE_FRAME_SAMPLE_EVERY < size->in_a_row;
		bool is_inside = n_stretch < sample.stretches->len && i >= stretch->first;

		n_switch += n_switch < frame->n_switches &&
		            frame->switches[n_switch].invocation == i;
		g_assert_cmpint(lode_frame_sample_has(&sample, i), ==, is_wanted);
		g_assert_true(!is_wanted || is_inside);
		if (is_inside) {
			g_assert_cmpuint(stretch->thread, ==, frame->switches[n_switch - 1].thread);
			g_assert_true(i > stretch->first || stretch->address == address);
			n_stretch += i + 1 == stretch->end;
		}
		address += layout->blocks[block].n_slots;
	}
	g_assert_cmpuint(n_stretch, ==, sample.stretches->len);
}

static void test_random(void)
{
	g_auto(LodeFrameLayout) layout = {0};
	g_autoptr(LodeTraceFrame) frame = random_frame();

	lode_frame_layout_init(&layout, frame->dictionary, frame->n_blocks);
	lode_frame_layout_count(&layout, frame->blocks, frame->n_invocations);
	check(frame, &layout, NULL);
	check(frame, &layout, &(LodeFrameSampleSize){1 << 13, 48});
	check(frame, &layout, &(LodeFrameSampleSize){1 << 12, 1});
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/traces/frame_sample/random", test_random,
		"R02S00000000000000000000000000000001", NULL);
	return g_test_run();
}
