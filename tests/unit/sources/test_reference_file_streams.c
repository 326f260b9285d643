/* SPDX-License-Identifier: MIT */
/* Traces that come compressed, through pipes, slowly, broken, and from valgrind itself. */
#include "base/error.h"
#include "sources/references/reference_file.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_LINES = 30000, N_LINES_BROKEN = 2000 };

static const char *const compressors[] = {"gzip", "xz", "zstd", "bzip2"};

static int descriptor_of(const void *data, size_t size)
{
	int descriptor = memfd_create("trace", MFD_CLOEXEC);

	g_assert_cmpint(descriptor, >=, 0);
	g_assert_cmpint(write(descriptor, data, size), ==, (ssize_t)size);
	lseek(descriptor, 0, SEEK_SET);
	return descriptor;
}

/* Gives the number of references; *out_text is what they are as lackey's text. */
static uint64_t read_descriptor(int descriptor, char **out_text, GError **error)
{
	size_t size;
	FILE *out = open_memstream(out_text, &size);
	g_autoptr(LodeReferenceWriter)
		writer = lode_reference_writer_new(LODE_REFERENCE_FORM_LACKEY, out);
	g_autoptr(LodeReferenceReader)
		reader = lode_reference_reader_open(descriptor, "x", -1, error);
	LodeReference some[100];
	uint64_t total = 0;
	ptrdiff_t n;

	while (reader != NULL && (n = lode_reference_reader_next(reader, some, 100, error)) > 0) {
		g_assert_true(lode_reference_writer_add(writer, some, (size_t)n, NULL));
		total += (uint64_t)n;
	}
	g_assert_true(lode_reference_writer_finish(writer, NULL));
	fclose(out);
	return total;
}

static char *text_new(unsigned n)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(text, "%s %08x,%u\n", i % 3 == 0 ? "I " : " S",
			i * 2654435761U, 1 + i % 200);
	return g_string_free(text, FALSE);
}

/* What the program makes of the text; NULL, and the test is skipped, where there is none. */
static GBytes *compressed(const char *program, const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GSubprocess) process = g_subprocess_new(
		G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, program,
		"-c", NULL);
	g_autoptr(GBytes) in = g_bytes_new(text, strlen(text));
	GBytes *out = NULL;

	if (process == NULL) {
		g_test_skip(error->message);
		return NULL;
	}
	g_subprocess_communicate(process, in, NULL, &out, NULL, &error);
	g_assert_no_error(error);
	return out;
}

static void test_compressed(const void *data)
{
	g_autofree char *text = text_new(N_LINES);
	g_autoptr(GBytes) bytes = compressed(data, text);
	g_autofree char *twice = NULL;
	GError *error = NULL;
	size_t size;

	if (bytes == NULL)
		return;
	const char *member = g_bytes_get_data(bytes, &size);
	twice = g_malloc(2 * size);
	memcpy(twice, member, size);
	memcpy(twice + size, member, size);
	for (size_t n = 1; n <= 2; n++) {
		int descriptor = descriptor_of(twice, n * size);
		g_autofree char *again = NULL;
		uint64_t n_read = read_descriptor(descriptor, &again, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(n_read, ==, n * N_LINES);
		g_assert_true(g_str_has_prefix(again, text));
		close(descriptor);
	}
}

/* Cut short, and with something changed in it: an error that names the place, nothing worse. */
static void test_broken(const void *data)
{
	g_autofree char *text = text_new(N_LINES_BROKEN);
	g_autoptr(GBytes) bytes = compressed(data, text);
	unsigned n_found = 0;
	size_t size;

	if (bytes == NULL)
		return;
	const char *whole = g_bytes_get_data(bytes, &size);
	for (size_t i = 1; i <= 100; i++) {
		size_t at = 6 + (size - 7) * i / 100;
		g_autofree char *broken = g_memdup2(whole, size);
		g_autofree char *read = NULL, *read_cut = NULL;
		g_autoptr(GError) error = NULL;
		g_autoptr(GError) cut_error = NULL;
		int cut = descriptor_of(whole, at);
		read_descriptor(cut, &read_cut, &cut_error);
		g_assert_error(cut_error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_nonnull(strstr(cut_error->message, "x: offset "));
		close(cut);
		broken[at] = (char)(broken[at] ^ 0x40);
		int descriptor = descriptor_of(broken, size);
		read_descriptor(descriptor, &read, &error);
		n_found += error != NULL;
		close(descriptor);
	}
	/* zstd and gzip have bytes that mean nothing (time, flags), zstd's checksum is of 32 bits.
	 */
	g_assert_cmpuint(n_found, >=, 98);
}

static gpointer write_slowly(gpointer data)
{
	int descriptor = GPOINTER_TO_INT(data);
	static const char *const pieces[] = {"I ", " 0401ab70,3", "\n S 1fff", "000718,8\n",
		"I  0401ab73,5", "\n L 00000001,1\nI  0"};

	for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++) {
		g_assert_cmpint(write(descriptor, pieces[i], strlen(pieces[i])), >, 0);
		g_usleep(2000);
	}
	g_assert_cmpint(write(descriptor, "0000002,1\n", 10), ==, 10);
	close(descriptor);
	return NULL;
}

static void test_pipe(const void *data)
{
	int ends[2];
	g_autofree char *text = NULL;
	GError *error = NULL;

	g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
	if (data != NULL) /* a reader that would rather not wait */
		g_assert_cmpint(fcntl(ends[0], F_SETFL, O_NONBLOCK), ==, 0);
	GThread *writer = g_thread_new("writer", write_slowly, GINT_TO_POINTER(ends[1]));
	read_descriptor(ends[0], &text, &error);
	g_thread_join(writer);
	g_assert_no_error(error);
	g_assert_cmpstr(text, ==,
		"I  0401ab70,3\n S 1fff000718,8\nI  0401ab73,5\n L 00000001,1\nI  00000002,1\n");
	close(ends[0]);
}

/* References are given when they have come, not when there are many. */
static void test_pipe_at_once(void)
{
	int ends[2];
	LodeReference some[10];
	GError *error = NULL;

	g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
	g_assert_cmpint(write(ends[1], "I  00000001,1\n S 00", 19), ==, 19);
	g_autoptr(LodeReferenceReader) reader = lode_reference_reader_open(
		ends[0], "x", LODE_REFERENCE_FORM_LACKEY, &error);
	g_assert_no_error(error);
	g_assert_cmpint(lode_reference_reader_next(reader, some, 10, &error), ==, 1);
	g_assert_cmpint(write(ends[1], "000002,1\n", 9), ==, 9);
	g_assert_cmpint(lode_reference_reader_next(reader, some, 10, &error), ==, 1);
	g_assert_cmphex(some[0].address, ==, 2);
	close(ends[1]);
	g_assert_cmpint(lode_reference_reader_next(reader, some, 10, &error), ==, 0);
	close(ends[0]);
}

static void test_not_readable(void)
{
	g_autoptr(GError) error = NULL;
	int descriptor = open("/", O_RDONLY | O_CLOEXEC);

	g_assert_null(lode_reference_reader_open(descriptor, "/", -1, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	close(descriptor);
}

static void test_disk_full(void)
{
	static const LodeReference one = {1, 1, 0, LODE_REFERENCE_LOAD};
	g_autoptr(GError) error = NULL;
	FILE *out = fopen("/dev/full", "we");

	if (out == NULL) {
		g_test_skip("no /dev/full");
		return;
	}
	g_autoptr(LodeReferenceWriter)
		writer = lode_reference_writer_new(LODE_REFERENCE_FORM_LACKEY, out);
	g_assert_true(lode_reference_writer_add(writer, &one, 1, &error));
	g_assert_false(lode_reference_writer_finish(writer, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	fclose(out);
}

/* The references of lackey's output, line by line, are what comes out again. */
static void test_valgrind(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = g_build_filename(g_get_tmp_dir(), "lode-lackey-XXXXXX", NULL);
	int descriptor = g_mkstemp(path);
	g_autofree char *log = g_strconcat("--log-file=", path, NULL);
	g_autoptr(GSubprocess) process = g_subprocess_new(G_SUBPROCESS_FLAGS_NONE, &error,
		"valgrind", "--tool=lackey", "--trace-mem=yes", "--trace-superblocks=yes", log,
		"true", NULL);
	g_autofree char *written = NULL, *text = NULL;
	size_t size;

	if (process == NULL || !g_subprocess_wait_check(process, NULL, &error)) {
		g_test_skip(error->message);
	} else {
		g_autoptr(GString) expected = g_string_new(NULL);
		uint64_t n = read_descriptor(descriptor, &text, &error);
		g_assert_no_error(error);
		g_assert_true(g_file_get_contents(path, &written, &size, NULL));
		uint64_t n_expected = 0;
		for (const char *line = written, *end; (end = memchr(line, '\n', size)) != NULL;) {
			size_t length = (size_t)(end + 1 - line);

			if (memcmp(line, "I  ", MIN(length, 3)) == 0 || line[0] == ' ') {
				g_string_append_len(expected, line, (gssize)length);
				n_expected++;
			}
			line += length;
			size -= length;
		}
		g_assert_cmpuint(n_expected, >, 10000);
		g_assert_cmpuint(n, ==, n_expected);
		g_assert_true(strcmp(text, expected->str) == 0);
	}
	close(descriptor);
	unlink(path);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(compressors); i++) {
		g_autofree char *name = g_strconcat(
			"/reference_file/compressed/", compressors[i], NULL);
		g_autofree char *broken = g_strconcat(
			"/reference_file/broken/", compressors[i], NULL);
		g_test_add_data_func(name, compressors[i], test_compressed);
		g_test_add_data_func(broken, compressors[i], test_broken);
	}
	g_test_add_data_func("/reference_file/pipe", NULL, test_pipe);
	g_test_add_data_func("/reference_file/pipe_nonblocking", "nonblocking", test_pipe);
	g_test_add_func("/reference_file/pipe_at_once", test_pipe_at_once);
	g_test_add_func("/reference_file/not_readable", test_not_readable);
	g_test_add_func("/reference_file/disk_full", test_disk_full);
	g_test_add_func("/reference_file/valgrind", test_valgrind);
	return g_test_run();
}
