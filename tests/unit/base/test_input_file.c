/* SPDX-License-Identifier: MIT */
/* Files that come compressed: what is in them, and what is refused. */
#include "base/error.h"
#include "base/files/input_file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char *write_file(const void *bytes, size_t size)
{
	char *path = NULL;
	int descriptor = g_file_open_tmp("lode-XXXXXX", &path, NULL);

	close(descriptor);
	g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
	return path;
}

/* One member; the caller frees it. */
static GByteArray *gzip(const void *bytes, size_t size)
{
	z_stream state = {.next_in = (void *)bytes, .avail_in = (uInt)size};
	GByteArray *out = g_byte_array_new();

	g_assert_cmpint(
		deflateInit2(&state, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), ==, Z_OK);
	g_byte_array_set_size(out, (guint)deflateBound(&state, size));
	state.next_out = out->data;
	state.avail_out = out->len;
	g_assert_cmpint(deflate(&state, Z_FINISH), ==, Z_STREAM_END);
	g_byte_array_set_size(out, out->len - state.avail_out);
	deflateEnd(&state);
	return out;
}

static void check_content(const void *bytes, size_t size, const char *expected)
{
	g_autofree char *path = write_file(bytes, size);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeInputFile) file = lode_input_file_open_unpacked(path, &error);
	char start[8];
	size_t n;

	g_assert_no_error(error);
	g_assert_cmpuint(file->size, ==, strlen(expected));
	g_autofree char *content = lode_input_file_load(file, 0, file->size, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(content, ==, expected);
	g_assert_true(lode_input_file_read_start(path, start, sizeof(start), &n, &error));
	g_assert_cmpuint(n, ==, MIN(strlen(expected), sizeof(start)));
	g_assert_cmpint(memcmp(start, expected, n), ==, 0);
	g_unlink(path);
}

static void test_content(void)
{
	g_autoptr(GByteArray) one = gzip("some text", 9), more = gzip(", and more", 10);
	g_autoptr(GByteArray) none = gzip("", 0);

	check_content("plain text", 10, "plain text");
	check_content("", 0, "");
	check_content("\x1f\x8b", 2, "\x1f\x8b");
	check_content(one->data, one->len, "some text");
	check_content(none->data, none->len, "");
	g_byte_array_append(one, more->data, more->len);
	check_content(one->data, one->len, "some text, and more");
}

static void check_failure(const void *bytes, size_t size, LodeErrorCode code, const char *why)
{
	g_autofree char *path = write_file(bytes, size);
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_input_file_open_unpacked(path, &error));
	g_assert_error(error, LODE_ERROR, (gint)code);
	g_assert_true(g_str_has_prefix(error->message, path));
	g_assert_nonnull(strstr(error->message, why));
	g_unlink(path);
}

/* Where a file is cut, what is refused after its end, and what grows too much. */
static void test_failures(void)
{
	/* gzip makes a 1029th of zeros: more than 64 MB + 512 · 150 kB. */
	enum { ZEROS = 150 << 20 };
	g_autofree char *zeros = g_malloc0(ZEROS);
	g_autoptr(GByteArray) text = gzip("some text", 9), bomb = gzip(zeros, ZEROS);

	for (guint size = 3; size < text->len; size++)
		check_failure(text->data, size, LODE_ERROR_CORRUPT, "gzip data: ends early");
	g_byte_array_append(text, (const uint8_t *)"rest", 4);
	check_failure(text->data, text->len, LODE_ERROR_CORRUPT, "gzip data: ");
	check_failure(bomb->data, bomb->len, LODE_ERROR_LIMIT,
		"decompresses to more than 512 times its size");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/input-file/content", test_content);
	g_test_add_func("/input-file/failures", test_failures);
	return g_test_run();
}
