/* SPDX-License-Identifier: MIT */
/* What a file may not do to its reader, and a disk to the writer; and what no input may cost. */
#include "seeds.h"
#include "trace_file_check.h"
#include "trace_samples.h"

#include "base/error.h"
#include "traces/rps/rps_fields.h"
#include "traces/rps/rps_format.h"
#include "traces/rps/rps_frame.h"
#include "traces/rps/rps_section.h"
#include "traces/rps/stream_compressor.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <zstd.h>

/* A file of these sections; without index and footer. */
static void write_section(const char *path, const GByteArray *section)
{
	g_autoptr(GByteArray) file = g_byte_array_new();
	static const uint8_t version[8] = {LODE_RPS_VERSION};

	g_byte_array_append(file, (const uint8_t *)LODE_RPS_MAGIC, LODE_RPS_MAGIC_BYTES);
	g_byte_array_append(file, version, sizeof(version));
	g_byte_array_append(file, section->data, section->len);
	for (unsigned i = 0; i < LODE_RPS_FOOTER_BYTES; i++)
		g_byte_array_append(file, version + 1, 1);
	g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
}

/* A frame with this head and body, whose checksums hold. */
static void append_frame(GByteArray *out, const LodeRpsFrame *frame, const GByteArray *body)
{
	g_autoptr(GByteArray) head = g_byte_array_new();

	lode_rps_frame_encode(frame, head);
	g_autoptr(GByteArray) section = lode_rps_section_begin(LODE_RPS_FRAME, head, body->len);
	g_byte_array_append(out, section->data, section->len);
	g_byte_array_append(out, body->data, body->len);
}

static void write_frame(const char *path, const LodeRpsFrame *frame, const GByteArray *body)
{
	g_autoptr(GByteArray) section = g_byte_array_new();

	append_frame(section, frame, body);
	write_section(path, section);
}

static GByteArray *packed_zeros(uint64_t size)
{
	g_autoptr(LodeStreamCompressor)
		compressor = lode_stream_compressor_new(LODE_COMPRESSION_ZSTD, 3, size);
	g_autofree uint8_t *zeros = g_malloc0(1 << 20);

	for (uint64_t at = 0; at < size; at += 1 << 20)
		lode_stream_compressor_add(compressor, zeros, MIN(size - at, 1 << 20));
	return lode_stream_compressor_finish(compressor);
}

/* One stream of zeros, `claimed` bytes of them by the head. */
static LodeRpsFrame bomb(const GByteArray *packed, uint64_t claimed, uint16_t *threads)
{
	LodeRpsFrame frame = {.n_streams = 1, .n_pieces = 1};

	frame.summary.head = (LodeFrameHead){.n_references = 1000,
		.n_instructions = 900,
		.n_blocks = 10,
		.n_invocations = 100,
		.n_addresses = 100,
		.n_switches = 1};
	frame.summary.threads = threads;
	frame.summary.n_threads = 1;
	frame.streams[0] = 10;
	frame.stream_bytes[0] = claimed;
	frame.pieces[0] = (LodeRpsPiece){.n_streams = 1,
		.compression = LODE_COMPRESSION_ZSTD,
		.checksum = lode_rps_piece_checksum(packed->data, packed->len),
		.packed_bytes = packed->len};
	return frame;
}

/* Nothing can be read of it, and that is told: by the reader, or as damage where not even the head
 * of its frame is taken. */
static void assert_refused(const char *path, bool is_head_taken)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, &error);
	const LodeTraceFrame *frame;

	g_assert_no_error(error);
	g_assert_nonnull(lode_trace_reader_damage(reader));
	g_assert_cmpuint(lode_trace_reader_n_frames(reader), ==, is_head_taken);
	g_assert_cmpint(lode_trace_reader_next(reader, &frame, &error), ==, -is_head_taken);
	if (is_head_taken)
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
}

static void test_bombs(void)
{
	static const uint64_t claims[] = {1, 100, LODE_RPS_MAX_CODED_BYTES,
		LODE_RPS_MAX_CODED_BYTES + 1, UINT32_MAX, UINT64_C(1) << 60};
	g_autofree char *path = lode_new_trace_path();
	g_autoptr(GByteArray) packed = packed_zeros(LODE_RPS_MAX_CODED_BYTES);
	uint16_t threads[] = {0};
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	for (unsigned i = 0; i < G_N_ELEMENTS(claims); i++) {
		LodeRpsFrame frame = bomb(packed, claims[i], threads);

		write_frame(path, &frame, packed);
		assert_refused(path, claims[i] <= LODE_RPS_MAX_CODED_BYTES);
	}
	getrusage(RUSAGE_SELF, &after);
	g_assert_cmpint(after.ru_maxrss - before.ru_maxrss, <, 300 << 10);
	lode_remove_trace(path);
}

/* Workers side by side keep within the bounds, whatever the streams of small frames come to. */
static void test_bombs_side_by_side(void)
{
	enum { N_FRAMES = 8 };
	g_autofree char *path = lode_new_trace_path();
	g_autoptr(GByteArray) packed = packed_zeros(LODE_RPS_MAX_CODED_BYTES);
	g_autoptr(GByteArray) sections = g_byte_array_new();
	uint16_t threads[] = {0};
	LodeTraceReaderOptions options = {.threads = N_FRAMES};
	LodeRpsFrame frame = bomb(packed, LODE_RPS_MAX_CODED_BYTES, threads);
	const LodeTraceFrame *read;
	struct rusage before, after;

	frame.summary.head.n_blocks = 0;
	for (unsigned i = 0; i < N_FRAMES; i++) {
		append_frame(sections, &frame, packed);
		frame.summary.head.first_reference += frame.summary.head.n_references;
		frame.summary.head.first_instruction += frame.summary.head.n_instructions;
	}
	write_section(path, sections);
	getrusage(RUSAGE_SELF, &before);
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, &options, NULL);
	g_assert_cmpuint(lode_trace_reader_n_frames(reader), ==, N_FRAMES);
	g_assert_cmpint(lode_trace_reader_next(reader, &read, NULL), ==, -1);
	g_clear_pointer(&reader, lode_trace_reader_close);
	getrusage(RUSAGE_SELF, &after);
	g_test_message("%ld MiB more", (after.ru_maxrss - before.ru_maxrss) >> 10);
	g_assert_cmpint(after.ru_maxrss - before.ru_maxrss, <, 512 << 10);
	lode_remove_trace(path);
}

/* Words beside another stream in one piece would be unpacked at once, as many as are claimed. */
static void test_words_in_company(void)
{
	g_autofree char *path = lode_new_trace_path();
	g_autoptr(GByteArray) packed = packed_zeros(1 << 20);
	uint16_t threads[] = {0};
	LodeRpsFrame frame = bomb(packed, 1000, threads);

	frame.summary.form = LODE_RPS_NARROW;
	frame.n_streams = 2;
	frame.streams[0] = LODE_PLAIN_HEAD;
	frame.streams[1] = LODE_PLAIN_WORDS;
	frame.stream_bytes[1] = UINT32_MAX;
	frame.pieces[0].n_streams = 2;
	write_frame(path, &frame, packed);
	assert_refused(path, false);
	lode_remove_trace(path);
}

static void put_lists(GByteArray *out, uint64_t n_mappings, uint64_t n_threads, uint64_t n_totals)
{
	static const uint8_t zeros[8] = {0};

	g_byte_array_append(out, zeros, 4); /* three texts and the flags */
	lode_rps_put_varint(out, n_mappings);
	for (uint64_t i = 0; i < n_mappings; i++)
		g_byte_array_append(out, zeros, 7);
	lode_rps_put_varint(out, n_threads);
	for (uint64_t i = 0; i < n_threads; i++)
		g_byte_array_append(out, zeros, 2);
	lode_rps_put_varint(out, n_totals);
	for (uint64_t i = 0; i < n_totals; i++) {
		lode_rps_put_text(out, "x");
		g_byte_array_append(out, zeros, 1);
	}
}

/* Lists of a description take eight times as much memory as bytes: they are bounded by number. */
static void test_long_descriptions(void)
{
	static const struct {
		uint64_t n_mappings, n_threads, n_totals;
		bool is_taken;
	} lists[] = {
		{1000, LODE_MAX_TRACE_THREADS, LODE_RPS_MAX_TOTALS, true},
		{LODE_RPS_MAX_MAPPINGS + 1, 1, 0, false},
		{0, LODE_MAX_TRACE_THREADS + 1, 0, false},
		{0, 1, LODE_RPS_MAX_TOTALS + 1, false},
	};
	g_autofree char *path = lode_new_trace_path();

	for (unsigned i = 0; i < G_N_ELEMENTS(lists); i++) {
		g_autoptr(GByteArray) body = g_byte_array_new();
		put_lists(body, lists[i].n_mappings, lists[i].n_threads, lists[i].n_totals);
		g_autoptr(GByteArray) section = lode_rps_section_pack(LODE_RPS_DESCRIPTION, body);
		write_section(path, section);
		g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(path, NULL, NULL);
		g_assert_nonnull(reader);
		g_assert_cmpuint(lode_trace_reader_description(reader)->threads->len, ==,
			lists[i].is_taken ? lists[i].n_threads : 0);
	}
	lode_remove_trace(path);
}

/* Numbers of a head that are beyond what any frame has. */
static void test_absurd_heads(void)
{
	static const LodeFrameHead heads[] = {
		{.n_references = UINT64_MAX},
		{.n_references = LODE_FRAME_MAX_REFERENCES + 1},
		{.n_instructions = 901},
		{.n_blocks = LODE_DICTIONARY_MAX_BLOCKS + 1},
		{.first_new_block = 11},
		{.n_invocations = UINT32_MAX},
		{.n_invocations = 1001},
		{.n_addresses = UINT32_MAX},
		{.n_switches = 101},
		{.first_reference = 1},
		{.first_instruction = UINT64_MAX},
	};
	g_autofree char *path = lode_new_trace_path();
	g_autoptr(GByteArray) packed = packed_zeros(100);
	uint16_t threads[] = {0};

	for (unsigned i = 0; i < G_N_ELEMENTS(heads); i++) {
		LodeRpsFrame frame = bomb(packed, 100, threads);
		const uint8_t *from = (const uint8_t *)&heads[i];
		uint8_t *to = (uint8_t *)&frame.summary.head;

		/* only what is not 0 takes a number's place */
		for (size_t k = 0; k < sizeof(heads[i]); k += sizeof(uint32_t)) {
			if (memcmp(from + k, "\0\0\0\0", sizeof(uint32_t)) != 0)
				memcpy(to + k, from + k, sizeof(uint32_t));
		}
		write_frame(path, &frame, packed);
		assert_refused(path, false);
	}
	lode_remove_trace(path);
}

static void test_not_a_trace(void)
{
	static const char *const texts[] = {"", "x", " L 1000,8\n L 1000,8\n L 1000,8\n"};
	g_autofree char *path = lode_new_trace_path();

	for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;

		g_assert_true(g_file_set_contents(path, texts[i], -1, NULL));
		g_assert_null(lode_trace_reader_open(path, NULL, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	}
	lode_remove_trace(path);
}

static void test_other_version(void)
{
	g_autofree char *path = lode_new_trace_path();
	g_autoptr(GArray) references = lode_trace_sample("constant", 10, 1);
	g_autoptr(GError) error = NULL;
	g_autofree char *bytes = NULL;
	size_t size;

	lode_write_trace(path, references, &(LodeTraceWriterOptions){0});
	g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	bytes[LODE_RPS_MAGIC_BYTES]++;
	g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
	g_assert_null(lode_trace_reader_open(path, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	lode_remove_trace(path);
}

/* The disk is full at one place after another: told, and nothing is left. */
static void test_full_disk(void)
{
	g_autofree char *path = lode_new_trace_path();
	g_autoptr(GArray) references = lode_trace_sample("random", 30000, 1);
	LodeTraceWriterOptions options = {.threads = 2, .frame_references = 5000};
	struct rlimit old, limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	for (rlim_t room = 0; room < 180000; room += 9999) {
		g_autoptr(GError) error = NULL;

		limit = (struct rlimit){room, old.rlim_max};
		g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
		g_autoptr(LodeTraceStream)
			writer = lode_trace_writer_open(path, &options, NULL, &error);
		if (writer != NULL && lode_trace_stream_add(writer,
					      (const LodeReference *)(void *)references->data,
					      references->len, &error))
			lode_trace_stream_finish(writer, NULL, &error);
		g_clear_pointer(&writer, lode_trace_stream_free);
		setrlimit(RLIMIT_FSIZE, &old);
		g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
		g_assert_true(g_str_has_prefix(error->message, path));
		g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
	}
	lode_remove_trace(path);
}

static void test_same_bytes_for_any_threads(void)
{
	for (size_t i = 0; lode_trace_sample_names[i] != NULL; i++) {
		g_autoptr(GArray)
			references = lode_trace_sample(lode_trace_sample_names[i], 30000, 7);
		g_autofree char *first = NULL;
		size_t first_size = 0;

		for (unsigned n_threads = 1; n_threads < 6; n_threads += 2) {
			LodeTraceWriterOptions options = {
				.threads = n_threads, .frame_references = 7000};
			g_autofree char *path = lode_new_trace_path(), *bytes = NULL;
			size_t size;

			lode_write_trace(path, references, &options);
			g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
			lode_remove_trace(path);
			if (first == NULL) {
				first = g_steal_pointer(&bytes);
				first_size = size;
				continue;
			}
			g_assert_cmpuint(size, ==, first_size);
			g_assert_true(memcmp(bytes, first, size) == 0);
		}
	}
}

/* The usual raw form: kind, and some of the size, above 56 bits of address. */
static size_t raw_size(const GArray *references, int level)
{
	size_t size = references->len * sizeof(uint64_t);
	g_autofree uint64_t *words = g_new(uint64_t, references->len);
	g_autofree char *packed = g_malloc(ZSTD_compressBound(size));

	for (guint i = 0; i < references->len; i++) {
		const LodeReference *reference = &g_array_index(references, LodeReference, i);

		words[i] = (reference->address & ((UINT64_C(1) << 56) - 1)) |
		           ((uint64_t)reference->kind << 6 | (reference->size & 0x3f)) << 56;
	}
	return ZSTD_compress(packed, ZSTD_compressBound(size), words, size, level);
}

static void test_no_growth(void)
{
	static const char *const names[] = {"random", "data_only", "constant", "program"};
	static const int levels[] = {3, 19};

	for (unsigned i = 0; i < G_N_ELEMENTS(names) * G_N_ELEMENTS(levels); i++) {
		const char *name = names[i / 2];
		g_autoptr(GArray)
			references = lode_trace_sample(name, random_rounds(60000, 300000), 3);
		LodeTraceWriterOptions options = {.level = (LodeTraceLevel)(i % 2)};
		g_autofree char *path = lode_new_trace_path();
		size_t raw = raw_size(references, levels[i % 2]);
		GStatBuf status;

		lode_write_trace(path, references, &options);
		g_assert_cmpint(g_stat(path, &status), ==, 0);
		g_test_message("%s, zstd %d: %zu bytes raw, %zu packed", name, levels[i % 2], raw,
			(size_t)status.st_size);
		/* description, index and heads take some hundred bytes, whatever the trace */
		g_assert_cmpfloat((double)status.st_size, <, (double)raw * 1.02 + 700);
		lode_remove_trace(path);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/traces/limits/bombs", test_bombs);
	g_test_add_func("/traces/limits/bombs-side-by-side", test_bombs_side_by_side);
	g_test_add_func("/traces/limits/words-in-company", test_words_in_company);
	g_test_add_func("/traces/limits/long-descriptions", test_long_descriptions);
	g_test_add_func("/traces/limits/absurd-heads", test_absurd_heads);
	g_test_add_func("/traces/limits/not-a-trace", test_not_a_trace);
	g_test_add_func("/traces/limits/other-version", test_other_version);
	g_test_add_func("/traces/limits/full-disk", test_full_disk);
	g_test_add_func("/traces/limits/same-bytes", test_same_bytes_for_any_threads);
	g_test_add_func("/traces/limits/no-growth", test_no_growth);
	return g_test_run();
}
