/* SPDX-License-Identifier: MIT */
/* What the splitter is given comes out of its frames again, and runs of code become blocks. */
#include "seeds.h"
#include "traces/blocks/block_splitter.h"

#include <string.h>

enum { BATCH = 1000 };

static GArray *references_new(void)
{
	return g_array_new(FALSE, TRUE, sizeof(LodeReference));
}

static void add(GArray *references, uint64_t address, uint32_t size, LodeReferenceKind kind,
	uint16_t thread)
{
	LodeReference reference = {address, size, thread, (uint8_t)kind};

	g_array_append_val(references, reference);
}

static void append_frame(GArray *out, const LodeTraceFrame *frame)
{
	LodeTraceReferences walk;
	LodeReference some[300];
	/* Batches end inside blocks, or hold many of them. */
	size_t room = (size_t)random_int_range(1, 3) * 7 * (random_bit() ? 1 : 20);
	uint64_t n_total = 0, n_fetches = 0;
	size_t n;

	lode_trace_references_init(&walk, frame);
	while ((n = lode_trace_references_next(&walk, some, room)) > 0) {
		g_array_append_vals(out, some, (guint)n);
		n_total += n;
		for (size_t i = 0; i < n; i++)
			n_fetches += some[i].kind == LODE_REFERENCE_FETCH;
	}
	g_assert_cmpuint(n_total, ==, frame->n_references);
	g_assert_cmpuint(n_fetches, ==, frame->n_instructions);
}

/* Splits, walks and compares; gives the number of blocks of the last dictionary. */
static uint32_t check_round_trip(const GArray *references)
{
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(GArray) out = references_new();
	uint32_t n_blocks = 0;

	for (size_t at = 0; at < references->len || at == 0;) {
		size_t n = MIN(BATCH, references->len - at);
		size_t taken = lode_block_splitter_add(
			splitter, &g_array_index(references, LodeReference, at), n);

		at += taken;
		if (taken < n || at == references->len) {
			g_autoptr(LodeTraceFrame) frame = lode_block_splitter_take_frame(splitter);

			if (frame == NULL)
				break;
			g_assert_cmpuint(frame->first_reference, ==, out->len);
			append_frame(out, frame);
			n_blocks = lode_block_dictionary_size(frame->dictionary);
		}
	}
	g_assert_cmpuint(out->len, ==, references->len);
	for (guint i = 0; i < out->len; i++) {
		const LodeReference *a = &g_array_index(references, LodeReference, i);
		const LodeReference *b = &g_array_index(out, LodeReference, i);

		g_assert_true(a->address == b->address && a->size == b->size &&
			      a->thread == b->thread && a->kind == b->kind);
	}
	return n_blocks;
}

static void test_loop_is_one_block(void)
{
	g_autoptr(GArray) references = references_new();

	for (unsigned i = 0; i < 1000; i++) {
		add(references, 0x1000, 3, LODE_REFERENCE_FETCH, 0);
		add(references, 0x8000 + 8 * i, 8, LODE_REFERENCE_LOAD, 0);
		add(references, 0x1003, 2, LODE_REFERENCE_FETCH, 0);
	}
	g_assert_cmpuint(check_round_trip(references), ==, 1);
}

static void test_other_pattern_is_other_block(void)
{
	g_autoptr(GArray) references = references_new();

	for (unsigned i = 0; i < 1000; i++) {
		add(references, 0x1000, 3, LODE_REFERENCE_FETCH, 0);
		if (i % 3 == 0)
			add(references, 0x8000, 8, LODE_REFERENCE_STORE, 0);
	}
	g_assert_cmpuint(check_round_trip(references), ==, 2);
}

static void test_nothing(void)
{
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();

	g_assert_null(lode_block_splitter_take_frame(splitter));
}

/* Anything at all: no program's trace. */
static void test_random(void)
{
	for (unsigned round = 0; round < 50; round++) {
		g_autoptr(GArray) references = references_new();
		unsigned n = (unsigned)random_int_range(1, 20000);
		int n_threads = random_int_range(1, 4);
		uint64_t next = 0;

		for (unsigned i = 0; i < n; i++) {
			int kind = random_int_range(0, LODE_N_REFERENCE_KINDS);
			uint32_t size = (uint32_t)random_int_range(0, 9);
			uint64_t address = random_int_range(0, 4) > 0
			                           ? next
			                           : (uint64_t)random_int() << 32 | (uint32_t)i;

			add(references, address, size, (LodeReferenceKind)kind,
				(uint16_t)random_int_range(0, n_threads));
			next = address + size;
		}
		check_round_trip(references);
	}
}

/* One instruction with very many accesses, and a run without an end. */
static void test_long(void)
{
	g_autoptr(GArray) references = references_new();
	uint64_t address = UINT64_MAX - 5000;

	for (unsigned i = 0; i < 10000; i++, address++)
		add(references, address, 1, LODE_REFERENCE_FETCH, 0);
	for (unsigned i = 0; i < 10000; i++)
		add(references, i, 1, LODE_REFERENCE_STORE, 0);
	check_round_trip(references);
}

/* Code that comes again, now and then with other accesses, another length or another thread. */
static void add_code(GArray *references, unsigned n)
{
	while (references->len < n) {
		uint64_t address = 0x1000 + 64 * (uint64_t)random_int_range(0, 4);
		int length = random_int_range(1, 5);
		uint16_t thread = random_int_range(0, 20) == 0;

		for (int i = 0; i < length; i++) {
			add(references, address + 4U * (unsigned)i, 4, LODE_REFERENCE_FETCH,
				thread);
			if (i == 1 || random_int_range(0, 20) == 0)
				add(references, (uint32_t)random_int(),
					random_int_range(0, 20) == 0 ? 4 : 8,
					random_int_range(0, 20) == 0 ? LODE_REFERENCE_STORE
								     : LODE_REFERENCE_LOAD,
					random_int_range(0, 20) == 0 ? 2 : thread);
		}
		if (random_int_range(0, 20) == 0)
			add(references, 8, 8, LODE_REFERENCE_LOAD, thread);
	}
}

static LodeTraceFrame *split(const GArray *references, size_t most)
{
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();

	for (size_t at = 0; at < references->len;) {
		size_t n = MIN(most, references->len - at);

		g_assert_cmpuint(lode_block_splitter_add(splitter,
					 &g_array_index(references, LodeReference, at), n),
			==, n);
		at += n;
	}
	return lode_block_splitter_take_frame(splitter);
}

/* The frame is the same whether a block's references come together or one by one. */
static void test_pieces(void)
{
	for (unsigned round = 0; round < 50; round++) {
		g_autoptr(GArray) references = references_new();

		add_code(references, 5000);
		g_autoptr(LodeTraceFrame) one = split(references, 1);
		g_autoptr(LodeTraceFrame)
			other = split(references, (size_t)random_int_range(2, 6000));

		g_assert_cmpuint(one->n_invocations, ==, other->n_invocations);
		g_assert_cmpuint(one->n_addresses, ==, other->n_addresses);
		g_assert_true(memcmp(one->blocks, other->blocks,
				      one->n_invocations * sizeof(uint32_t)) == 0);
		g_assert_true(memcmp(one->addresses, other->addresses,
				      one->n_addresses * sizeof(uint64_t)) == 0);
		g_assert_cmpuint(one->n_switches, ==, other->n_switches);
		for (size_t i = 0; i < one->n_switches; i++) {
			g_assert_cmpuint(
				one->switches[i].invocation, ==, other->switches[i].invocation);
			g_assert_cmpuint(one->switches[i].thread, ==, other->switches[i].thread);
		}
		check_round_trip(references);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/traces/block_splitter/loop", test_loop_is_one_block);
	g_test_add_func("/traces/block_splitter/pattern", test_other_pattern_is_other_block);
	g_test_add_func("/traces/block_splitter/nothing", test_nothing);
	add_random_test("/traces/block_splitter/random", test_random,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	g_test_add_func("/traces/block_splitter/long", test_long);
	add_random_test("/traces/block_splitter/pieces", test_pieces,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	return g_test_run();
}
