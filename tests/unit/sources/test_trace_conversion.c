/* SPDX-License-Identifier: MIT */
/* Text into a packed trace and out again, whole and in ranges, and what is said to be in it. */
#include "base/error.h"
#include "seeds.h"
#include "sources/references/trace_conversion.h"
#include "traces/trace_summary.h"
#include "traces/trace_writer.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_LINES = 20000, FRAME_REFERENCES = 3000 };

typedef struct {
	char *directory, *path, *text;
	uint64_t n_by_kind[LODE_N_REFERENCE_KINDS], n_by_thread[3];
} Fixture;

/* A loop, calls elsewhere, some threads: lackey's lines, counted on the way. */
static char *text_new(Fixture *fixture)
{
	static const char *const heads[] = {"I  ", " L ", " S ", " M "};
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(7));
	GString *text = g_string_new(NULL);
	unsigned thread = 0;

	for (unsigned i = 0; i < N_LINES; i++) {
		unsigned kind = i % 2 == 0 ? LODE_REFERENCE_FETCH
		                           : (unsigned)g_rand_int_range(rand, 0, 4);
		if (g_rand_int_range(rand, 0, 500) == 0) {
			thread = (thread + (unsigned)g_rand_int_range(rand, 1, 3)) % 3;
			g_string_append_printf(text, "==lode== thread %u\n", thread);
		}
		uint64_t address = kind == LODE_REFERENCE_FETCH
		                           ? 0x401000 + 4 * (i % 60)
		                           : 0x7000000 + 8 * (g_rand_int(rand) >> 20);
		g_string_append_printf(text, "%s%08" G_GINT64_MODIFIER "x,%u\n", heads[kind],
			address, kind == LODE_REFERENCE_FETCH ? 4U : 8U);
		fixture->n_by_kind[kind]++;
		fixture->n_by_thread[thread]++;
	}
	return g_string_free(text, FALSE);
}

static void pack(const Fixture *fixture)
{
	const LodeTraceWriterOptions options = {
		.level = LODE_TRACE_LEVEL_FAST,
		.frame_references = FRAME_REFERENCES,
	};
	GError *error = NULL;
	int descriptor = memfd_create("text", MFD_CLOEXEC);
	size_t size = strlen(fixture->text);

	g_assert_cmpint(write(descriptor, fixture->text, size), ==, (ssize_t)size);
	lseek(descriptor, 0, SEEK_SET);
	g_autoptr(LodeReferenceReader)
		reader = lode_reference_reader_open(descriptor, "x", -1, &error);
	g_assert_no_error(error);
	g_autoptr(LodeTraceStream)
		writer = lode_trace_writer_open(fixture->path, &options, NULL, &error);
	g_assert_no_error(error);
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	lode_trace_conversion_pack(reader, size, writer, NULL, &error);
	g_assert_no_error(error);
	lode_reference_reader_describe(reader, description);
	lode_trace_stream_finish(writer, description, &error);
	g_assert_no_error(error);
	close(descriptor);
}

static void set_up(Fixture *fixture, const void *data)
{
	(void)data;
	fixture->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	fixture->path = g_build_filename(fixture->directory, "x.rps", NULL);
	fixture->text = text_new(fixture);
	pack(fixture);
}

static void tear_down(Fixture *fixture, const void *data)
{
	(void)data;
	g_unlink(fixture->path);
	g_rmdir(fixture->directory);
	g_free(fixture->directory);
	g_free(fixture->path);
	g_free(fixture->text);
}

/* What came before an error is the result. */
static char *unpack(const Fixture *fixture, LodeTraceRange range, GError **error)
{
	const LodeTraceReaderOptions options = {.range = &range};
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(fixture->path, &options, error);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	g_autoptr(LodeReferenceWriter)
		writer = lode_reference_writer_new(LODE_REFERENCE_FORM_LACKEY, out);

	if (reader != NULL)
		lode_trace_conversion_unpack(reader, writer, NULL, error, error);
	fclose(out);
	return text;
}

static void test_whole(Fixture *fixture, const void *data)
{
	GError *error = NULL;
	g_autofree char *text = unpack(fixture, LODE_TRACE_RANGE_ALL, &error);

	(void)data;
	g_assert_no_error(error);
	g_assert_true(strcmp(text, fixture->text) == 0);
}

/* The references' lines without those of threads. */
static GPtrArray *lines_of(char *text)
{
	GPtrArray *lines = g_ptr_array_new();
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0' && line[0] != '=')
			g_ptr_array_add(lines, line);
	return lines;
}

static void test_ranges(Fixture *fixture, const void *data)
{
	static const uint64_t edges[] = {0, 1, FRAME_REFERENCES - 1, FRAME_REFERENCES,
		FRAME_REFERENCES + 1, N_LINES - 1, N_LINES};
	g_autofree char *whole = g_strdup(fixture->text);
	g_autoptr(GPtrArray) expected = lines_of(whole);

	(void)data;
	for (size_t i = 0; i < G_N_ELEMENTS(edges) * G_N_ELEMENTS(edges); i++) {
		LodeTraceRange range = {
			edges[i % G_N_ELEMENTS(edges)], edges[i / G_N_ELEMENTS(edges)], 0, 0, 0};
		GError *error = NULL;
		g_autofree char *text = unpack(fixture, range, &error);
		g_autoptr(GPtrArray) lines = lines_of(text);
		g_assert_no_error(error);
		g_assert_cmpuint(lines->len, ==, MIN(range.count, N_LINES - range.first));
		for (guint j = 0; j < lines->len; j++)
			g_assert_cmpstr(lines->pdata[j], ==, expected->pdata[range.first + j]);
	}
}

static const LodeTraceWriterOptions writing = {.level = LODE_TRACE_LEVEL_FAST};

static const LodeTraceMapping mappings[] = {
	{.start = 0x400000, .end = 0x500000, .path = "/bin/x", .build_id = "abcd"},
	{.start = 0x7000000, .end = 0x8000000, .first_reference = 2000, .path = "[heap]"},
	{.start = 0x9000000, .end = 0xa000000, .first_reference = 8000, .path = "/lib/y"},
	{.start = 0xb000000, .end = 0xc000000, .first_reference = 12000, .path = "/lib/z"},
};

/* The fixture's trace again, with a description. */
static void add_description(const Fixture *fixture)
{
	g_autoptr(LodeTraceDescription) description = lode_trace_description_new();
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(fixture->path, NULL, NULL);
	LodeTraceThread thread = {.tid = 77, .name = "worker"};
	GError *error = NULL;

	description->command = lode_trace_description_intern(description, "x y");
	g_array_append_vals(description->mappings, mappings, G_N_ELEMENTS(mappings));
	g_array_append_val(description->threads, thread);
	g_autoptr(LodeTraceStream)
		writer = lode_trace_writer_open(fixture->path, &writing, NULL, &error);
	g_assert_no_error(error);
	const LodeTraceFrame *frame;
	while (lode_trace_reader_next(reader, &frame, &error) > 0) {
		g_autofree LodeReference *some = g_new(LodeReference, frame->n_references);
		LodeTraceReferences walk;

		lode_trace_references_init(&walk, frame);
		lode_trace_references_next(&walk, some, frame->n_references);
		lode_trace_stream_add(writer, some, frame->n_references, &error);
	}
	g_assert_no_error(error);
	g_assert_true(lode_trace_stream_finish(writer, description, &error));
}

/* A part by itself has the references of the range, and what names them. */
static void test_cut(Fixture *fixture, const void *data)
{
	static const uint64_t shifted[] = {0, 0, 1000};
	const LodeTraceRange range = {.first = 7000, .count = 5000};
	const LodeTraceReaderOptions options = {.range = &range};
	g_autofree char *path = g_build_filename(fixture->directory, "cut.rps", NULL);
	Fixture part = {.path = path};
	GError *error = NULL;

	(void)data;
	add_description(fixture);
	g_autofree char *expected = unpack(fixture, range, &error);
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(fixture->path, &options, &error);
	g_autoptr(LodeTraceStream) writer = lode_trace_writer_open(path, &writing, NULL, &error);
	lode_trace_conversion_cut(reader, writer, NULL, &error, &error);
	g_assert_no_error(error);
	g_autofree char *text = unpack(&part, LODE_TRACE_RANGE_ALL, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(text, ==, expected);
	g_autoptr(LodeTraceReader) cut = lode_trace_reader_open(path, NULL, &error);
	const LodeTraceDescription *description = lode_trace_reader_description(cut);
	g_assert_cmpstr(description->command, ==, "x y");
	g_assert_true(description->is_partial);
	g_assert_cmpuint(description->threads->len, ==, 1);
	g_assert_cmpstr(g_array_index(description->threads, LodeTraceThread, 0).name, ==, "worker");
	g_assert_cmpuint(description->mappings->len, ==, G_N_ELEMENTS(shifted));
	for (guint i = 0; i < G_N_ELEMENTS(shifted); i++) {
		const LodeTraceMapping *mapping = &g_array_index(
			description->mappings, LodeTraceMapping, i);
		g_assert_cmpuint(mapping->first_reference, ==, shifted[i]);
		g_assert_cmpuint(mapping->start, ==, mappings[i].start);
		g_assert_cmpstr(mapping->path, ==, mappings[i].path);
		g_assert_cmpstr(mapping->build_id, ==, mappings[i].build_id);
	}
	g_unlink(path);
}

static void test_summary(Fixture *fixture, const void *data)
{
	GError *error = NULL;
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(fixture->path, NULL, &error);

	(void)data;
	g_assert_no_error(error);
	g_autoptr(LodeTraceSummary)
		summary = lode_trace_summary_new(reader, fixture->path, true, NULL, &error);
	g_assert_no_error(error);
	g_assert_null(summary->damage);
	g_assert_cmpuint(summary->n_references, ==, N_LINES);
	g_assert_cmpuint(summary->n_decoded, ==, N_LINES);
	g_assert_cmpuint(summary->n_frames, >=, N_LINES / FRAME_REFERENCES);
	g_assert_cmpuint(summary->n_instructions, ==, fixture->n_by_kind[LODE_REFERENCE_FETCH]);
	for (size_t i = 0; i < LODE_N_REFERENCE_KINDS; i++)
		g_assert_cmpuint(summary->n_by_kind[i], ==, fixture->n_by_kind[i]);
	g_assert_cmpuint(summary->n_threads, ==, 3);
	g_assert_cmpuint(summary->n_by_thread->len, ==, 3);
	for (guint i = 0; i < 3; i++)
		g_assert_cmpuint(g_array_index(summary->n_by_thread, uint64_t, i), ==,
			fixture->n_by_thread[i]);
}

/* A changed byte ends what comes out, at a frame, and is told. */
static void test_damaged(Fixture *fixture, const void *data)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GError) summary_error = NULL;
	g_autofree char *bytes = NULL;
	size_t size;

	(void)data;
	g_assert_true(g_file_get_contents(fixture->path, &bytes, &size, NULL));
	bytes[size / 2] = (char)(bytes[size / 2] ^ 1);
	g_assert_true(g_file_set_contents(fixture->path, bytes, (gssize)size, NULL));
	g_autofree char *text = unpack(fixture, LODE_TRACE_RANGE_ALL, &error);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_true(g_str_has_prefix(error->message, fixture->path));
	g_assert_true(g_str_has_prefix(fixture->text, text));
	g_assert_cmpuint(strlen(text), >, strlen(fixture->text) / 10);
	g_autoptr(LodeTraceReader) reader = lode_trace_reader_open(fixture->path, NULL, NULL);
	g_autoptr(LodeTraceSummary)
		summary = lode_trace_summary_new(reader, fixture->path, true, NULL, &summary_error);
	g_assert_no_error(summary_error);
	g_assert_true(g_str_has_prefix(summary->damage, fixture->path));
	g_assert_cmpuint(summary->n_decoded, <, N_LINES);
	g_assert_cmpuint(summary->n_decoded, >, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/trace_conversion/whole", Fixture, NULL, set_up, test_whole, tear_down);
	g_test_add("/trace_conversion/ranges", Fixture, NULL, set_up, test_ranges, tear_down);
	g_test_add("/trace_conversion/cut", Fixture, NULL, set_up, test_cut, tear_down);
	g_test_add("/trace_conversion/summary", Fixture, NULL, set_up, test_summary, tear_down);
	g_test_add("/trace_conversion/damaged", Fixture, NULL, set_up, test_damaged, tear_down);
	return g_test_run();
}
