/* SPDX-License-Identifier: MIT */
/* The pieces of a frame are the frame: the same references in the same order, by the same threads.
 */
#include "caches/frame_slices.h"
#include "seeds.h"
#include "traces/blocks/block_splitter.h"

static LodeTraceFrame *random_frame(GRand *random, unsigned n)
{
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();

	for (unsigned i = 0; i < n; i++) {
		LodeReference reference = {
			g_rand_int(random) % 4096,
			(uint32_t)g_rand_int_range(random, 1, 9),
			(uint16_t)(g_rand_int_range(random, 0, 20) == 0 ? i % 7 : i / 64 % 3),
			(uint8_t)g_rand_int_range(random, 0, LODE_N_REFERENCE_KINDS),
		};
		g_assert_cmpuint(lode_block_splitter_add(splitter, &reference, 1), ==, 1);
	}
	return lode_block_splitter_take_frame(splitter);
}

static void append_references(GArray *out, const LodeTraceFrame *frame)
{
	LodeTraceReferences walk;
	LodeReference reference;

	lode_trace_references_init(&walk, frame);
	while (lode_trace_references_next(&walk, &reference, 1) > 0)
		g_array_append_val(out, reference);
}

static void check_equal(const GArray *expected, const GArray *found)
{
	g_assert_cmpuint(found->len, ==, expected->len);
	for (guint i = 0; i < found->len; i++) {
		const LodeReference *a = &g_array_index(expected, LodeReference, i);
		const LodeReference *b = &g_array_index(found, LodeReference, i);

		g_assert_true(a->address == b->address && a->size == b->size &&
			      a->thread == b->thread && a->kind == b->kind);
	}
}

static void check(const LodeTraceFrame *frame, uint64_t n_references)
{
	g_autoptr(GArray) expected = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	g_auto(LodeFrameSlices) slices = {0};
	const LodeTraceFrame *slice;
	uint64_t n_instructions = 0;
	uint32_t n_blocks = frame->first_new_block;

	append_references(expected, frame);
	lode_frame_slices_init(&slices, frame);
	while ((slice = lode_frame_slices_next(&slices, n_references)) != NULL) {
		g_assert_cmpuint(slice->first_reference, ==, frame->first_reference + found->len);
		g_assert_cmpuint(
			slice->first_instruction, ==, frame->first_instruction + n_instructions);
		g_assert_cmpuint(slice->first_new_block, ==, n_blocks);
		g_assert_cmpuint(slice->switches[0].invocation, ==, 0);
		append_references(found, slice);
		g_assert_cmpuint(slice->first_reference + slice->n_references, ==,
			frame->first_reference + found->len);
		g_assert_true(slice->n_references >= n_references || found->len == expected->len);
		n_instructions += slice->n_instructions;
		n_blocks = slice->n_blocks;
	}
	g_assert_cmpuint(n_instructions, ==, frame->n_instructions);
	check_equal(expected, found);
}

static void test_random(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(1));

	for (unsigned i = 0; i < 50; i++) {
		g_autoptr(LodeTraceFrame)
			frame = random_frame(random, (unsigned)g_rand_int_range(random, 1, 3000));

		check(frame, (uint64_t)g_rand_int_range(random, 1, 4000));
		check(frame, 1);
	}
}

static void test_empty(void)
{
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();
	g_autoptr(LodeTraceFrame) frame = lode_trace_frame_new(dictionary);
	g_auto(LodeFrameSlices) slices = {0};

	lode_frame_slices_init(&slices, frame);
	g_assert_null(lode_frame_slices_next(&slices, 1));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/caches/frame_slices/random", test_random);
	g_test_add_func("/caches/frame_slices/empty", test_empty);
	return g_test_run();
}
