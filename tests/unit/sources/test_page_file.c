/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "model/process.h"
#include "sources/code/page_file.h"

#include <glib/gstdio.h>
#include <string.h>

static GArray *read_text(const char *text, GError **error)
{
	g_autofree char *path = NULL;
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(LodeMemoryPages));
	int file = g_file_open_tmp("pages-XXXXXX", &path, NULL);

	close(file);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	if (!lode_page_file_read(path, rows, error))
		g_clear_pointer(&rows, g_array_unref);
	g_unlink(path);
	return rows;
}

static void test_rows(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) rows = read_text("lode-pages 1\n"
					   "# two looks\n"
					   "time 5 42\n"
					   "1000 3000 4 0\n"
					   "\n"
					   "time 9 43\r\n"
					   "fffffffffffff000 ffffffffffffffff 2048 7\r\n",
		&error);

	g_assert_no_error(error);
	g_assert_cmpuint(rows->len, ==, 2);
	const LodeMemoryPages *row = &g_array_index(rows, LodeMemoryPages, 0);
	g_assert_cmpuint(row->pid, ==, 42);
	g_assert_cmpuint(row->time_ns, ==, 5);
	g_assert_cmphex(row->start, ==, 0x1000);
	g_assert_cmphex(row->end, ==, 0x3000);
	g_assert_cmpuint(row->page_size_bytes, ==, 4096);
	g_assert_cmpuint(row->node, ==, 0);
	row = &g_array_index(rows, LodeMemoryPages, 1);
	g_assert_cmpuint(row->pid, ==, 43);
	g_assert_cmphex(row->end, ==, UINT64_MAX);
	g_assert_cmpuint(row->node, ==, 7);
}

static void test_damaged(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"lode-pages 2\n", "line 1:"},
		{"lode-pages 1\n1000 2000 4 0\n", "line 2:"}, /* of no time */
		{"lode-pages 1\ntime 1\n", "line 2:"},
		{"lode-pages 1\ntime -1 2\n", "line 2:"},
		{"lode-pages 1\ntime 1 2 3\n", "line 2:"},
		{"lode-pages 1\ntime 1 2\n2000 2000 4 0\n", "line 3:"},
		{"lode-pages 1\ntime 1 2\n1000 2000 4\n", "line 3:"},
		{"lode-pages 1\ntime 1 2\n1000 2000 4 -1\n", "line 3:"},
		{"lode-pages 1\ntime 1 2\n1000 2000 4 99999999999999999999\n", "line 3:"},
		{"lode-pages 1\ntime 1 2\n1000 2000 4 0 0\n", "line 3:"},
	};
	g_autoptr(GString) line = g_string_new("lode-pages 1\n#");

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(read_text(cases[i].text, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_nonnull(strstr(error->message, cases[i].says));
	}
	for (int i = 0; i < 1000; i++)
		g_string_append(line, "1000 2000 4 0 ");
	g_assert_null(read_text(line->str, NULL));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/page-file/rows", test_rows);
	g_test_add_func("/page-file/damaged", test_damaged);
	return g_test_run();
}
