/* SPDX-License-Identifier: MIT */
/* Attribute files: both forms, the quoting of RFC 4180, every error with its line. */
#include "base/error.h"
#include "sources/attribute_file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static LodeAttributeFile *read_bytes(const char *data, size_t size, GError **error)
{
	g_autofree char *path = NULL;
	int fd = g_file_open_tmp("lode-XXXXXX.csv", &path, NULL);

	g_assert_cmpint(fd, >=, 0);
	close(fd);
	g_assert_true(g_file_set_contents(path, data, (gssize)size, NULL));
	LodeAttributeFile *file = lode_attribute_file_read(path, NULL, error);
	g_unlink(path);
	return file;
}

static LodeAttributeFile *read_text(const char *text)
{
	GError *error = NULL;
	LodeAttributeFile *file = read_bytes(text, strlen(text), &error);

	g_assert_no_error(error);
	return file;
}

static const LodeAttributeRow *row(const LodeAttributeFile *file, guint i)
{
	g_assert_cmpuint(i, <, file->rows->len);
	return &g_array_index(file->rows, LodeAttributeRow, i);
}

static void test_places(void)
{
	g_autoptr(LodeAttributeFile) file = read_text("image,symbol,offset,attribute\n"
						      "libz.so.1,inflate,0x1C,ir:phi\n"
						      "\n"
						      "/usr/bin/x,,18446744073709551615,a b\r\n"
						      "x,\"f(int, \"\"char\"\")\",0,\"q\"\n"
						      "x,f,1,user:lookup\n");

	g_assert_cmpint(file->form, ==, LODE_ATTRIBUTE_FILE_PLACES);
	g_assert_cmpuint(file->rows->len, ==, 4);
	g_assert_cmpstr(row(file, 0)->image, ==, "libz.so.1");
	g_assert_cmpstr(row(file, 0)->symbol, ==, "inflate");
	g_assert_cmpuint(row(file, 0)->offset, ==, 28);
	g_assert_cmpstr(row(file, 0)->attribute, ==, "user:ir:phi");
	g_assert_null(row(file, 0)->file);
	g_assert_cmpstr(row(file, 1)->symbol, ==, "");
	g_assert_cmpuint(row(file, 1)->offset, ==, UINT64_MAX);
	g_assert_cmpstr(row(file, 1)->attribute, ==, "user:a b");
	g_assert_cmpuint(row(file, 1)->record_line, ==, 4);
	g_assert_cmpstr(row(file, 2)->symbol, ==, "f(int, \"char\")");
	g_assert_cmpstr(row(file, 2)->attribute, ==, "user:q");
	g_assert_cmpstr(row(file, 3)->attribute, ==, "user:lookup"); /* not user:user:lookup */
}

static void test_lines(void)
{
	g_autoptr(LodeAttributeFile) file = read_text("\xef\xbb\xbf"
						      "file,line,attribute\r\n"
						      "src/a.c,120,phase:x\r\n"
						      "\"a,b.c\",1,größe\r\n");

	g_assert_cmpint(file->form, ==, LODE_ATTRIBUTE_FILE_LINES);
	g_assert_cmpuint(file->rows->len, ==, 2);
	g_assert_cmpstr(row(file, 0)->file, ==, "src/a.c");
	g_assert_cmpuint(row(file, 0)->line, ==, 120);
	g_assert_null(row(file, 0)->image);
	g_assert_cmpstr(row(file, 1)->file, ==, "a,b.c");
	g_assert_cmpstr(row(file, 1)->attribute, ==, "user:größe");
}

static void test_empty(void)
{
	g_autoptr(LodeAttributeFile) file = read_text("file,line,attribute\n");

	g_assert_cmpuint(file->rows->len, ==, 0);
}

#define PLACES "image,symbol,offset,attribute\n"
#define LINES "file,line,attribute\n"

static const struct {
	const char *text;
	int line;
	const char *message;
} faults[] = {
	{"", 1, "expected the header 'image,symbol,offset,attribute' or"},
	{"\n", 1, "expected the header"},
	{"file,line\n", 1, "expected the header"},
	{"attribute,file,line\n", 1, "expected the header"},
	{LINES "a.c\n", 2, "a field is missing, expected 'file,line,attribute'"},
	{LINES "a.c,1\n", 2, "a field is missing"},
	{LINES "a.c,1,x,y\n", 2, "a surplus field"},
	{LINES "a.c,1,x,\n", 2, "a surplus field"},
	{LINES "a.c,1,\n", 2, "the attribute is empty"},
	{LINES ",1,x\n", 2, "the file is empty"},
	{LINES "a.c,0,x\n", 2, "line 0, expected lines from 1"},
	{LINES "a.c,-1,x\n", 2, "'-1' is not a whole number"},
	{LINES "a.c,+1,x\n", 2, "'+1' is not a whole number"},
	{LINES "a.c, 1,x\n", 2, "' 1' is not a whole number"},
	{LINES "a.c,1x,x\n", 2, "'1x' is not a whole number"},
	{LINES "a.c,,x\n", 2, "'' is not a whole number"},
	{LINES "a.c,4294967295,x\n", 2, "is not a whole number from 0 to 4294967294"},
	{LINES "a.c,1,x\nb.c,1,\"x\n\"\n", 3, "does not end on its line"},
	{LINES "a.c,1,\"x\"y\n", 2, "text after a quoted field"},
	{LINES "a.c,1,x\"y\"\n", 2, "a quote inside a field"},
	{LINES "a.c,1,\"\n", 2, "does not end"},
	{LINES "a.c,1,x\ty\n", 2, "control character"},
	{LINES "a.c,1,\xff\n", 2, "not UTF-8"},
	{PLACES "a,f,1\n", 2, "a field is missing, expected 'image,symbol,offset,attribute'"},
	{PLACES ",f,1,x\n", 2, "the image is empty"},
	{PLACES "a,f,18446744073709551616,x\n", 2, "not a whole number"},
	{PLACES "a,f,0x,x\n", 2, "'0x' is not a whole number"},
	{PLACES "a,f,1,x,y\n", 2, "a surplus field"},
};

static void test_errors(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *place = g_strdup_printf(".csv: line %d: ", faults[i].line);
		g_autoptr(LodeAttributeFile)
			file = read_bytes(faults[i].text, strlen(faults[i].text), &error);
		g_assert_null(file);
		g_test_message("%s", error->message);
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_nonnull(strstr(error->message, place));
		g_assert_nonnull(strstr(error->message, faults[i].message));
	}
}

static void test_nul(void)
{
	static const char text[] = "file,line,attribute\na.c,1,x\0y\n";
	g_autoptr(GError) error = NULL;

	g_assert_null(read_bytes(text, sizeof(text) - 1, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, "line 2: a control character"));
}

static void test_absent(void)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_attribute_file_read("/nonexistent/a.csv", NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_nonnull(strstr(error->message, "/nonexistent/a.csv: "));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/attribute-file/places", test_places);
	g_test_add_func("/attribute-file/lines", test_lines);
	g_test_add_func("/attribute-file/empty", test_empty);
	g_test_add_func("/attribute-file/errors", test_errors);
	g_test_add_func("/attribute-file/nul", test_nul);
	g_test_add_func("/attribute-file/absent", test_absent);
	return g_test_run();
}
