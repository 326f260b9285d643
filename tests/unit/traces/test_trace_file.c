/* SPDX-License-Identifier: MIT */
/* What is written to an .rps file is read from it again: all of it, and from any reference on. */
#include "base/error.h"
#include "seeds.h"
#include "trace_file_check.h"
#include "trace_samples.h"

#include <unistd.h>

/* References in a frame. A large one ends soon after a small one. */
enum { SMALL_FRAME = 1000, LARGE_FRAME = 4096 };

static void check_description(const LodeTraceDescription *description)
{
	const LodeTraceMapping *mappings = (const void *)description->mappings->data;
	const LodeTraceThread *threads = (const void *)description->threads->data;
	const LodeTraceTotal *totals = (const void *)description->totals->data;

	g_assert_cmpstr(description->command, ==, "program --fast 'a b'");
	g_assert_cmpstr(description->tool, ==, "tests");
	g_assert_null(description->build);
	g_assert_true(description->is_partial);
	g_assert_cmpuint(description->mappings->len, ==, 2);
	g_assert_cmpuint(mappings[0].end, ==, 0x401000);
	g_assert_cmpuint(mappings[0].offset, ==, 4096);
	g_assert_cmpuint(mappings[1].first_reference, ==, 12);
	g_assert_cmpstr(mappings[0].build_id, ==, "0123456789abcdef");
	g_assert_cmpstr(mappings[1].path, ==, "[stack]");
	g_assert_null(mappings[1].build_id);
	g_assert_cmpuint(description->threads->len, ==, 1);
	g_assert_cmpuint(threads[0].tid, ==, 42);
	g_assert_cmpstr(threads[0].name, ==, "main");
	g_assert_cmpuint(description->totals->len, ==, 1);
	g_assert_cmpuint(totals[0].value, ==, UINT64_C(1) << 40);
}

static void check_whole(const char *path, const GArray *references)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, &error);

	g_assert_no_error(error);
	g_assert_cmpstr(lode_trace_reader_damage(reader), ==, NULL);
	g_assert_cmpuint(lode_trace_reader_n_references(reader), ==, references->len);
	g_autoptr(GArray) read = lode_read_trace(reader, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(read->len, ==, references->len);
	lode_assert_references(read, references, 0);
	check_description(lode_trace_reader_description(reader));
}

static uint64_t count_fetches(const GArray *references, uint64_t n)
{
	uint64_t fetches = 0;

	for (uint64_t i = 0; i < n; i++)
		fetches += g_array_index(references, LodeReference, i).kind == LODE_REFERENCE_FETCH;
	return fetches;
}

/* By the definition, window by window: 1 for the warm-up of the first, 2 for itself, 3 … */
static uint64_t *marks_of(const LodeTraceRange *range, uint64_t n)
{
	uint64_t *marks = g_new0(uint64_t, n + 1);
	uint64_t end = range->first + MIN(range->count, n - range->first), mark = 1;

	for (uint64_t k = 0; range->first + k * range->every < end; k++, mark += 2) {
		/* k times the golden ratio, without its whole part, in 64 bits */
		unsigned __int128 place = k * UINT64_C(0x9e3779b97f4a7c15);
		uint64_t offset = (uint64_t)(place * (range->every - range->length + 1) >> 64);
		uint64_t start = MIN(range->first + k * range->every + offset, end);
		uint64_t length = range->every > 0 ? MIN(range->length, end - start) : end - start;

		for (uint64_t i = start - MIN(start, range->warm_up); length > 0 && i < start; i++)
			marks[i] = MAX(marks[i], mark * (marks[i] == 0));
		for (uint64_t i = start; i < start + length; i++)
			marks[i] = mark + 1;
		if (range->every == 0)
			break;
	}
	return marks;
}

/* What is read of a range is what stands there, in frames that are numbered as the whole. */
static void check_range(const char *path, const GArray *references, const LodeTraceRange *range)
{
	const LodeTraceReaderOptions options = {.threads = 2, .range = range};
	g_autofree uint64_t *marks = marks_of(range, references->len);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, &options, &error);
	const LodeTraceFrame *frame;
	uint64_t at = 0;
	int result;

	g_assert_no_error(error);
	while ((result = lode_trace_reader_next(reader, &frame, &error)) > 0) {
		g_autofree LodeReference *read = g_new(LodeReference, frame->n_references);
		LodeTraceReferences walk;

		while (at < references->len && marks[at] == 0)
			at++;
		g_assert_cmpuint(frame->first_reference, ==, at);
		g_assert_cmpuint(frame->first_instruction, ==, count_fetches(references, at));
		lode_trace_references_init(&walk, frame);
		g_assert_cmpuint(lode_trace_references_next(&walk, read, frame->n_references), ==,
			frame->n_references);
		for (uint64_t i = 0; i < frame->n_references; i++) {
			const LodeReference *it = &g_array_index(references, LodeReference, at + i);
			g_assert_cmpuint(read[i].address, ==, it->address);
			g_assert_cmpuint(read[i].size, ==, it->size);
			g_assert_cmpuint(read[i].thread, ==, it->thread);
			g_assert_cmpuint(read[i].kind, ==, it->kind);
			g_assert_cmpuint(marks[at + i], ==, marks[at]);
		}
		at += frame->n_references;
	}
	g_assert_no_error(error);
	while (at < references->len && marks[at] == 0)
		at++;
	g_assert_cmpuint(at, ==, references->len);
}

static void check_ranges(const char *path, const GArray *references)
{
	uint64_t n = references->len;
	/* Of small windows, each of which is read by itself, those around the ends of frames. */
	uint64_t small = random_rounds(600, 20000);
	uint64_t from = n > SMALL_FRAME + small ? MIN(4 * SMALL_FRAME, n - small) - 10 : 0;
	const LodeTraceRange edges[] = {{0, 1, 0, 0, 0}, {n - 1, 1, n, 0, 0}, {n, 1, 0, 0, 0},
		{n / 2, 0, 0, 0, 0}, {1, UINT64_MAX, 1, 0, 0}, {from, small, 0, 7, 7},
		{from + 3, small, 6, 7, 1}, {0, n, 0, 8000, 1000}};

	for (unsigned i = 0; i < G_N_ELEMENTS(edges); i++)
		check_range(path, references, &edges[i]);
	for (unsigned i = 0; i < 5; i++) {
		LodeTraceRange range = {
			.first = (uint64_t)random_int_range(0, (int)n),
			.count = (uint64_t)random_int_range(0, (int)n),
			.warm_up = (uint64_t)random_int_range(0, 3000),
		};
		check_range(path, references, &range);
		range.length = (uint64_t)random_int_range(1, 900);
		range.warm_up %= 500;
		range.every = range.length + range.warm_up + (uint64_t)random_int_range(0, 4000);
		check_range(path, references, &range);
	}
}

static void test_round_trip(const void *name)
{
	static const unsigned frame_sizes[] = {0, LARGE_FRAME, SMALL_FRAME};
	const unsigned n = random_rounds(20000, 20000);

	for (unsigned level = LODE_TRACE_LEVEL_FAST; level <= LODE_TRACE_LEVEL_SMALL; level++) {
		for (unsigned i = 0; i < G_N_ELEMENTS(frame_sizes); i++) {
			LodeTraceWriterOptions options = {
				.level = (LodeTraceLevel)level,
				.threads = 1 + i,
				.frame_references = frame_sizes[i],
			};
			g_autoptr(GArray) references = lode_trace_sample(name, n, level);
			g_autofree char *path = lode_new_trace_path();

			lode_write_trace(path, references, &options);
			check_whole(path, references);
			check_ranges(path, references);
			lode_remove_trace(path);
		}
	}
}

static void test_beyond_the_end(void)
{
	const LodeTraceWriterOptions writing = {.level = LODE_TRACE_LEVEL_FAST};
	const LodeTraceRange range = {.first = 1001, .count = 1};
	const LodeTraceReaderOptions reading = {.range = &range};
	g_autoptr(GArray) references = lode_trace_sample("program", 1000, 1);
	g_autofree char *path = lode_new_trace_path();
	g_autoptr(GError) error = NULL;

	g_array_set_size(references, 1000);
	lode_write_trace(path, references, &writing);
	g_assert_null(lode_trace_reader_open(path, &reading, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	lode_remove_trace(path);
}

static void test_nothing(void)
{
	g_autoptr(GArray) references = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	g_autofree char *path = lode_new_trace_path();

	lode_write_trace(path, references, &(LodeTraceWriterOptions){0});
	check_whole(path, references);
	lode_remove_trace(path);
}

enum { FOLLOWED_FRAMES = 40, FOLLOWED_REFERENCES = 100 };

/* One more mapping is there with each frame. */
static void write_followed(const char *path)
{
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	g_autoptr(GArray)
		references = lode_trace_sample("program", FOLLOWED_FRAMES * FOLLOWED_REFERENCES, 1);
	LodeTraceWriterOptions options = {
		.level = LODE_TRACE_LEVEL_FAST, .frame_references = FOLLOWED_REFERENCES};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceStream)
		writer = lode_trace_writer_open(path, &options, description, &error);

	g_assert_cmpuint(references->len, >=, FOLLOWED_FRAMES * FOLLOWED_REFERENCES);
	description->command = lode_trace_description_intern(description, "program");
	for (uint64_t i = 0; i < FOLLOWED_FRAMES; i++) {
		LodeTraceMapping mapping = {.end = 4096, .first_reference = i};

		g_array_append_val(description->mappings, mapping);
		lode_trace_stream_add(writer,
			&g_array_index(references, LodeReference, i * FOLLOWED_REFERENCES),
			FOLLOWED_REFERENCES, &error);
		g_assert_no_error(error);
	}
	lode_trace_stream_finish(writer, NULL, &error);
	g_assert_no_error(error);
}

/* Behind `n` frames what was mapped when half of them were there is known, but not all each time.
 */
static void check_followed(const char *path, uint64_t n)
{
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, NULL);
	const LodeTraceDescription *description = lode_trace_reader_description(reader);
	uint64_t last = 1; /* before how many frames it was written last */

	while (2 * last < n)
		last *= 2;
	g_assert_cmpuint(lode_trace_reader_n_frames(reader), ==, n);
	g_assert_cmpstr(description->command, ==, "program");
	g_assert_cmpuint(description->mappings->len, ==, n > 1 ? last + 1 : 1);
}

static void test_followed(void)
{
	uint64_t ends[FOLLOWED_FRAMES];
	g_autofree char *path = lode_new_trace_path();

	write_followed(path);
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, NULL);
	g_assert_cmpuint(lode_trace_reader_n_frames(reader), ==, FOLLOWED_FRAMES);
	for (unsigned i = 0; i < FOLLOWED_FRAMES; i++) {
		LodeTraceFrameInfo info;

		g_assert_true(lode_trace_reader_frame_info(reader, i, &info, NULL));
		ends[i] = info.offset + info.bytes;
	}
	for (unsigned n = FOLLOWED_FRAMES; n > 0; n--) {
		g_assert_cmpint(truncate(path, (off_t)ends[n - 1]), ==, 0);
		check_followed(path, n);
	}
	lode_remove_trace(path);
}

/* A dictionary becomes full with a large block, and has a small one last when it is sorted. */
static void test_full_dictionary(void)
{
	enum { BLOCKS = 6000, SLOTS = 50, TOP = 0x40000000 };
	LodeTraceWriterOptions options = {.level = LODE_TRACE_LEVEL_FAST};
	g_autoptr(GArray) references = g_array_new(FALSE, FALSE, sizeof(LodeReference));
	g_autofree char *path = lode_new_trace_path();

	for (uint64_t i = 0; i < BLOCKS; i++) {
		LodeReference fetch = {TOP - 64 * i, 4, 0, LODE_REFERENCE_FETCH};

		g_array_append_val(references, fetch);
		for (uint64_t k = 0; k < (i == 0 ? 1 : SLOTS); k++) {
			LodeReference load = {i * 4096 + 8 * k, 8, 0, LODE_REFERENCE_LOAD};
			g_array_append_val(references, load);
		}
	}
	lode_write_trace(path, references, &options);
	check_whole(path, references);
	lode_remove_trace(path);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; lode_trace_sample_names[i] != NULL; i++) {
		g_autofree char *path = g_strconcat(
			"/traces/file/", lode_trace_sample_names[i], NULL);

		g_test_add_data_func(path, lode_trace_sample_names[i], test_round_trip);
	}
	g_test_add_func("/traces/file/full-dictionary", test_full_dictionary);
	g_test_add_func("/traces/file/beyond-the-end", test_beyond_the_end);
	g_test_add_func("/traces/file/nothing", test_nothing);
	g_test_add_func("/traces/file/followed", test_followed);
	return g_test_run();
}
