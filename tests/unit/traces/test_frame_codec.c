/* SPDX-License-Identifier: MIT */
/*
 * A frame that is coded and decoded is the same frame, whatever is in it; damaged streams give an
 * error or some frame, never more than a frame may hold.
 */
#include "base/error.h"
#include "seeds.h"
#include "traces/blocks/block_splitter.h"
#include "traces/frames/frame_codec.h"

#include <string.h>

enum { MAX_REFERENCES = 30000 };

/* A maker of references: appends `n` of a shape. */
typedef void (*Shape)(GArray *references, unsigned n);

static void add(GArray *references, uint64_t address, uint32_t size, LodeReferenceKind kind,
	uint16_t thread)
{
	LodeReference reference = {address, size, thread, (uint8_t)kind};

	g_array_append_val(references, reference);
}

static uint64_t random_u64(void)
{
	return (uint64_t)random_int() << 32 | (uint32_t)random_int();
}

static uint32_t random_below(uint32_t n)
{
	return (uint32_t)random_int_range(0, (gint32)n);
}

static void shape_anything(GArray *references, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		add(references, random_u64() >> random_below(64),
			(uint32_t)random_u64() >> random_below(32),
			(LodeReferenceKind)random_below(LODE_N_REFERENCE_KINDS),
			(uint16_t)random_below(3));
}

static void shape_one_address(GArray *references, unsigned n)
{
	uint64_t address = random_u64();
	LodeReferenceKind kind = (LodeReferenceKind)random_below(LODE_N_REFERENCE_KINDS);

	for (unsigned i = 0; i < n; i++)
		add(references, address, 4, kind, 7);
}

static void shape_no_fetches(GArray *references, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		add(references, UINT64_MAX - 40 + 8 * i, 8, LODE_REFERENCE_STORE, 0);
}

static void shape_only_fetches(GArray *references, unsigned n)
{
	uint64_t address = 0;

	for (unsigned i = 0; i < n; i++) {
		add(references, address, 1 + random_below(15), LODE_REFERENCE_FETCH, 0);
		address = random_below(8) == 0 ? 100 * random_below(50) : address + 4;
	}
}

static void shape_threads(GArray *references, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint16_t thread = (uint16_t)(random_below(4) == 0 ? 65534 : random_below(200));

		add(references, 0x1000, 4, LODE_REFERENCE_FETCH, thread);
		add(references, 0x100000 * (uint64_t)thread + 8 * (i / 3), 8, LODE_REFERENCE_LOAD,
			thread);
	}
}

/* Calls and returns of functions that push, to a depth that no stack follows. */
static void call(GArray *references, unsigned n, uint64_t stack, unsigned depth)
{
	unsigned children = random_below(4);

	add(references, 0x5000, 1, LODE_REFERENCE_FETCH, 0);
	add(references, stack - 8, 8, LODE_REFERENCE_STORE, 0);
	for (unsigned i = 0; i < children && depth < 200 && references->len < n; i++) {
		uint64_t place = 0x5000 + 0x20 * (1 + random_below(3));

		add(references, place, 5, LODE_REFERENCE_FETCH, 0);
		add(references, stack - 16, 8, LODE_REFERENCE_STORE, 0);
		call(references, n, stack - 16, depth + 1);
		add(references, place + 5, 3, LODE_REFERENCE_FETCH, 0);
		add(references, stack - 24, 8, LODE_REFERENCE_LOAD, 0);
	}
	add(references, 0x50f0, 1, LODE_REFERENCE_FETCH, 0);
	add(references, stack, 8, LODE_REFERENCE_LOAD, 0);
}

static void shape_calls(GArray *references, unsigned n)
{
	while (references->len < n)
		call(references, n, 0x7fff00000000, 0);
}

/* A list that is walked again and again, objects of several blocks, a stride and a hash table. */
static void shape_program(GArray *references, unsigned n)
{
	uint64_t nodes[64];

	for (unsigned i = 0; i < G_N_ELEMENTS(nodes); i++)
		nodes[i] = 0x10000000 + 48 * (uint64_t)random_below(100000);
	for (unsigned i = 0; references->len < n; i++) {
		uint64_t node = nodes[i % G_N_ELEMENTS(nodes)];

		add(references, 0x400000, 4, LODE_REFERENCE_FETCH, 1);
		add(references, node, 8, LODE_REFERENCE_LOAD, 1);
		add(references, 0x400004, 3, LODE_REFERENCE_FETCH, 1);
		add(references, 0x20000000 + 64 * (uint64_t)i, 32, LODE_REFERENCE_MODIFY, 1);
		add(references, 0x400100 + 16 * (node & 0x30), 2, LODE_REFERENCE_FETCH, 1);
		add(references, node + 16, 4, LODE_REFERENCE_STORE, 1);
		add(references, 0x30000000 + 8 * (uint64_t)random_below(5000), 8,
			LODE_REFERENCE_LOAD, 1);
	}
}

/* More blocks behind one than a symbol can tell apart. */
static void shape_jumps(GArray *references, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		add(references, 0x1000, 4, LODE_REFERENCE_FETCH, 0);
		add(references, 0x2000 + 64 * (uint64_t)random_below(700), 4, LODE_REFERENCE_FETCH,
			0);
	}
}

/* Runs of instructions that are together larger than 32 bits tell, and other blocks behind them. */
static void shape_huge(GArray *references, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t start = 0x1000 * (uint64_t)random_below(50);

		add(references, start, UINT32_MAX, LODE_REFERENCE_FETCH, 0);
		add(references, start + UINT32_MAX, UINT32_MAX - 1, LODE_REFERENCE_FETCH, 0);
		add(references, start + 8, 8, LODE_REFERENCE_STORE, 0);
	}
}

static const Shape SHAPES[] = {shape_anything, shape_one_address, shape_no_fetches,
	shape_only_fetches, shape_threads, shape_calls, shape_program, shape_jumps, shape_huge};

/* Some of each of several shapes. */
static GArray *random_references(void)
{
	GArray *references = g_array_new(FALSE, FALSE, sizeof(LodeReference));

	for (uint32_t n = 1 + random_below(3); n > 0; n--)
		SHAPES[random_below(G_N_ELEMENTS(SHAPES))](
			references, references->len + 1 + random_below(MAX_REFERENCES));
	return references;
}

static bool is_equal(const void *a, const void *b, size_t size)
{
	return size == 0 || memcmp(a, b, size) == 0;
}

static void check_same(const LodeTraceFrame *a, const LodeTraceFrame *b)
{
	g_assert_cmpuint(a->first_reference, ==, b->first_reference);
	g_assert_cmpuint(a->first_instruction, ==, b->first_instruction);
	g_assert_cmpuint(a->n_references, ==, b->n_references);
	g_assert_cmpuint(a->n_instructions, ==, b->n_instructions);
	g_assert_cmpuint(a->first_new_block, ==, b->first_new_block);
	g_assert_cmpuint(a->n_blocks, ==, b->n_blocks);
	g_assert_cmpuint(a->n_invocations, ==, b->n_invocations);
	g_assert_true(is_equal(a->blocks, b->blocks, a->n_invocations * sizeof(uint32_t)));
	g_assert_cmpuint(a->n_addresses, ==, b->n_addresses);
	g_assert_true(is_equal(a->addresses, b->addresses, a->n_addresses * sizeof(uint64_t)));
	g_assert_cmpuint(a->n_switches, ==, b->n_switches);
	for (size_t i = 0; i < a->n_switches; i++) {
		g_assert_cmpuint(a->switches[i].invocation, ==, b->switches[i].invocation);
		g_assert_cmpuint(a->switches[i].thread, ==, b->switches[i].thread);
	}
}

static void check_same_blocks(const LodeBlockDictionary *a, const LodeBlockDictionary *b)
{
	g_assert_cmpuint(lode_block_dictionary_size(a), ==, lode_block_dictionary_size(b));
	for (uint32_t i = 0; i < lode_block_dictionary_size(a); i++) {
		const LodeTraceBlock *x = lode_block_dictionary_at(a, i);
		const LodeTraceBlock *y = lode_block_dictionary_at(b, i);

		g_assert_cmphex(x->address, ==, y->address);
		g_assert_cmpuint(x->n_instructions, ==, y->n_instructions);
		g_assert_true(is_equal(x->instruction_sizes, y->instruction_sizes,
			x->n_instructions * sizeof(uint32_t)));
		g_assert_cmpuint(x->n_slots, ==, y->n_slots);
		for (unsigned k = 0; k < x->n_slots; k++) {
			g_assert_cmpuint(x->slots[k].size, ==, y->slots[k].size);
			g_assert_cmpuint(x->slots[k].kind, ==, y->slots[k].kind);
			g_assert_cmpuint(x->slots[k].instruction, ==, y->slots[k].instruction);
		}
	}
}

static uint64_t count_references(const GArray *counts)
{
	uint64_t n = 0;

	for (guint i = 0; i < counts->len; i++)
		n += g_array_index(counts, LodeSlotClassCount, i).n_references;
	return n;
}

/* Codes a frame, decodes it with a dictionary of its own, and compares. */
static void check_frame(const LodeTraceFrame *frame, LodeBlockDictionary *dictionary)
{
	g_auto(LodeFrameStreams) streams = {0};
	g_autoptr(LodeTraceFrame) again = NULL;
	g_autoptr(GArray) counts = NULL;
	g_autoptr(GError) error = NULL;
	LodeFrameHead head = lode_frame_head_of(frame);

	lode_frame_streams_init(&streams);
	lode_frame_codec_encode(
		frame, (LodeCodecEffort)random_below(LODE_CODEC_THOROUGH + 1), &streams);
	g_assert_true(lode_frame_codec_decode_blocks(&streams, &head, dictionary, &error));
	again = lode_frame_codec_decode(&streams, &head, dictionary, &error);
	g_assert_no_error(error);
	check_same(frame, again);
	counts = lode_frame_codec_count_classes(&streams, &head, dictionary, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(count_references(counts), ==, frame->n_addresses);
}

/* In several frames of one dictionary. */
static void check_references(const GArray *references)
{
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(LodeBlockDictionary) dictionary = lode_block_dictionary_new();
	size_t n_frames = 1 + random_below(3), at = 0;

	for (size_t i = 0; i < n_frames; i++) {
		size_t end = references->len * (i + 1) / n_frames;
		g_autoptr(LodeTraceFrame) frame = NULL;

		g_assert_cmpuint(end - at, ==,
			lode_block_splitter_add(
				splitter, &g_array_index(references, LodeReference, at), end - at));
		at = end;
		frame = lode_block_splitter_take_frame(splitter);
		if (frame == NULL)
			continue;
		check_frame(frame, dictionary);
		if (i + 1 == n_frames)
			check_same_blocks(frame->dictionary, dictionary);
	}
}

static void test_shapes(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(SHAPES); i++) {
		g_autoptr(GArray) references = g_array_new(FALSE, FALSE, sizeof(LodeReference));

		SHAPES[i](references, MAX_REFERENCES);
		check_references(references);
	}
}

static void test_random(void)
{
	for (unsigned i = 0; i < random_rounds(20, 60); i++) {
		g_autoptr(GArray) references = random_references();

		check_references(references);
	}
}

/* What a program does over and over takes next to nothing. */
static void test_is_small(void)
{
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(LodeTraceFrame) frame = NULL;
	g_autoptr(GArray) references = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	g_auto(LodeFrameStreams) streams = {0};
	size_t n_other = 0;

	for (unsigned i = 0; i < 10000; i++) {
		add(references, 0x1000, 4, LODE_REFERENCE_FETCH, 0);
		add(references, 0x20000 + 24 * (uint64_t)i, 8, LODE_REFERENCE_LOAD, 0);
	}
	lode_block_splitter_add(
		splitter, (const LodeReference *)(void *)references->data, references->len);
	frame = lode_block_splitter_take_frame(splitter);
	lode_frame_streams_init(&streams);
	lode_frame_codec_encode(frame, LODE_CODEC_FAST, &streams);
	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++) {
		const GByteArray *stream = streams.streams[i];

		for (guint k = 0; k < stream->len; k++)
			n_other += stream->data[k] != (k > 0 ? stream->data[k - 1] : 0);
	}
	g_assert_cmpuint(n_other, <, 40);
}

/* The addresses of a slot of a class that begins with such a letter. */
static uint64_t n_of_class(const LodeTraceFrame *frame, const LodeFrameStreams *streams, char first)
{
	LodeFrameHead head = lode_frame_head_of(frame);
	g_autoptr(GArray)
		counts = lode_frame_codec_count_classes(streams, &head, frame->dictionary, NULL);

	for (guint i = 0; i < counts->len; i++) {
		const LodeSlotClassCount *count = &g_array_index(counts, LodeSlotClassCount, i);

		if (count->name[0] == first)
			return count->n_references;
	}
	return 0;
}

/* Quickly, a slot is seen in a sample alone; what it does between is coded all the same. */
static void test_between_samples(void)
{
	enum { N = 30000, ODD = 20000 };
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	g_autoptr(LodeTraceFrame) frame = NULL;
	g_autoptr(LodeTraceFrame) again = NULL;
	g_autoptr(GArray) references = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	g_auto(LodeFrameStreams) streams = {0};

	for (unsigned i = 0; i < N; i++) {
		add(references, 0x1000, 4, LODE_REFERENCE_FETCH, 0);
		add(references, 0x20000, 8, LODE_REFERENCE_LOAD, 0);
		add(references, i == ODD ? 0x90000 : 0x40000, 8, LODE_REFERENCE_STORE, 0);
	}
	lode_block_splitter_add(
		splitter, (const LodeReference *)(void *)references->data, references->len);
	frame = lode_block_splitter_take_frame(splitter);
	lode_frame_streams_init(&streams);
	lode_frame_codec_encode(frame, LODE_CODEC_QUICK, &streams);
	LodeFrameHead head = lode_frame_head_of(frame);
	again = lode_frame_codec_decode(&streams, &head, frame->dictionary, NULL);
	g_assert_nonnull(again);
	check_same(frame, again);
	g_assert_cmpuint(n_of_class(frame, &streams, 'g'), ==, N);
	g_assert_cmpuint(n_of_class(frame, &streams, 'u'), ==, N);
}

static void add_byte(LodeFrameStreams *streams, const char *name, uint8_t byte)
{
	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++) {
		if (g_str_equal(lode_frame_codec_stream_name(i), name))
			g_byte_array_append(streams->streams[i], &byte, 1);
	}
}

/* One block with one load, three times. */
static LodeTraceFrame *small_frame(void)
{
	g_autoptr(LodeBlockSplitter) splitter = lode_block_splitter_new();
	const LodeReference references[] = {
		{0x1000, 4, 0, LODE_REFERENCE_FETCH},
		{0x2000, 8, 0, LODE_REFERENCE_LOAD},
	};

	for (unsigned i = 0; i < 3; i++)
		lode_block_splitter_add(splitter, references, G_N_ELEMENTS(references));
	return lode_block_splitter_take_frame(splitter);
}

static void assert_corrupt(const LodeFrameStreams *streams, const LodeTraceFrame *frame)
{
	g_autoptr(GError) error = NULL;
	LodeFrameHead head = lode_frame_head_of(frame);

	g_assert_null(lode_frame_codec_decode(streams, &head, frame->dictionary, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
}

/* A byte in a stream may stand for eight in memory: what lists more than the frame can use is
 * refused, however long the stream is. */
static void test_long_lists(void)
{
	g_autoptr(LodeTraceFrame) frame = small_frame();
	LodeFrameHead head = lode_frame_head_of(frame);

	for (unsigned n_edges = 2; n_edges <= 5; n_edges++) {
		g_auto(LodeFrameStreams) streams = {0};
		lode_frame_streams_init(&streams);
		add_byte(&streams, "switches.length", 0);
		add_byte(&streams, "switches.thread", 0);
		add_byte(&streams, "sequence.used", 0);
		add_byte(&streams, "sequence.used", 1);
		add_byte(&streams, "sequence.degree", (uint8_t)(2 * n_edges));
		for (unsigned i = 0; i < n_edges; i++)
			add_byte(&streams, "sequence.edge", 1);
		for (unsigned i = 0; i < 3; i++)
			add_byte(&streams, "sequence.choice", 0);
		add_byte(&streams, "sequence.far", 0);
		add_byte(&streams, "slots.class", 0);
		add_byte(&streams, "slots.address", 0);
		if (n_edges > 3) {
			assert_corrupt(&streams, frame);
			continue;
		}
		g_autoptr(LodeTraceFrame)
			again = lode_frame_codec_decode(&streams, &head, frame->dictionary, NULL);
		g_assert_nonnull(again);
	}
}

static void test_long_table(void)
{
	g_autoptr(LodeTraceFrame) frame = small_frame();
	g_auto(LodeFrameStreams) streams = {0};

	lode_frame_streams_init(&streams);
	lode_frame_codec_encode(frame, LODE_CODEC_FAST, &streams);
	for (unsigned i = 0; i < lode_frame_codec_n_streams(); i++) {
		if (g_str_equal(lode_frame_codec_stream_name(i), "slots.class"))
			streams.streams[i]->data[0] |= 0x20;
	}
	add_byte(&streams, "slots.table", 4);
	for (unsigned i = 0; i < 4; i++)
		add_byte(&streams, "slots.table", 0);
	assert_corrupt(&streams, frame);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/traces/frame_codec/shapes", test_shapes);
	add_random_test("/traces/frame_codec/random", test_random,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	g_test_add_func("/traces/frame_codec/is_small", test_is_small);
	g_test_add_func("/traces/frame_codec/between_samples", test_between_samples);
	g_test_add_func("/traces/frame_codec/long_lists", test_long_lists);
	g_test_add_func("/traces/frame_codec/long_table", test_long_table);
	return g_test_run();
}
