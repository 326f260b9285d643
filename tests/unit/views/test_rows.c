/* SPDX-License-Identifier: MIT */
/* CSV and tables, each from its writer alone. */
#include "sample_profile.h"
#include "views/form/csv.h"
#include "views/form/display_text.h"
#include "views/form/format.h"
#include "views/form/table.h"

#include <math.h>
#include <string.h>

static void test_csv(void)
{
	FILE *file = sample_open();
	LodeCsv csv;

	lode_csv_init(&csv, file);
	lode_csv_text(&csv, "a,b");
	lode_csv_text(&csv, "say \"x\"");
	lode_csv_text(&csv, NULL);
	lode_csv_end_row(&csv);
	lode_csv_text(&csv, "two\nlines");
	lode_csv_number(&csv, 0.5);
	lode_csv_number(&csv, (double)INFINITY);
	lode_csv_end_row(&csv);
	lode_csv_text(&csv, "esc\x1b[0m");
	lode_csv_text(&csv, "");
	lode_csv_text(&csv, "⟨load⟩");
	lode_csv_end_row(&csv);
	g_autofree char *text = sample_close(file);
	g_autoptr(GPtrArray) rows = sample_parse_csv(text);
	static const char *const expected[3][3] = {
		{"a,b", "say \"x\"", ""},
		{"two\nlines", "0.5", ""},
		{"esc\\x1b[0m", "", "⟨load⟩"},
	};
	g_assert_cmpuint(rows->len, ==, 3);
	for (guint i = 0; i < 3; i++)
		for (guint j = 0; j < 3; j++)
			g_assert_cmpstr(
				g_ptr_array_index((GPtrArray *)g_ptr_array_index(rows, i), j), ==,
				expected[i][j]);
}

/* What a spreadsheet would compute gets an apostrophe; numbers and what is inside stay. */
static void test_csv_formulas(void)
{
	static const char *const cells[][2] = {
		{"=1+1", "'=1+1"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"+cmd|'x'", "'+cmd|'x'"},
		{"-2+3", "'-2+3"},
		{"operator=", "operator="},
		{"-12.5e3", "-12.5e3"},
		{"+7", "+7"},
		{"-", "'-"},
		{"\t=1", "'\t=1"},
		{"\r=1", "'\\x0d=1"},
		{"\n=1", "\"'\n=1\""},
		{"=A1,\"x\"", "\"'=A1,\"\"x\"\"\""},
		{"＝1", "'＝1"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cells); i++) {
		FILE *file = sample_open();
		LodeCsv csv;

		lode_csv_init(&csv, file);
		lode_csv_text(&csv, cells[i][0]);
		lode_csv_number(&csv, -0.25);
		lode_csv_end_row(&csv);
		g_autofree char *text = sample_close(file);
		g_autofree char *expected = g_strconcat(cells[i][1], ",-0.25\r\n", NULL);
		g_assert_cmpstr(text, ==, expected);
	}
}

static LodeStyle number_cell(size_t row, unsigned column, GString *out, const void *user_data)
{
	(void)user_data;
	if (column == 2)
		g_string_append(out, row == 0 ? "⟨a⟩" : "a sequence that is much too long to fit");
	else
		g_string_append_printf(out, "%zu", (row * 99 + 1) * (column + 1));
	return LODE_STYLE_ALARM;
}

static const LodeTableColumn columns[] = {
	{"n"},
	{"less", .dropped = 1},
	{"sequence", .is_text = true},
};
static const LodeTable table = {columns, 3, 2, number_cell, NULL};

static void test_table_pipe(void)
{
	LodeTerminal pipe = {0};
	FILE *file = sample_open();

	g_assert_cmpuint(lode_table_write(&table, &pipe, file), ==, 0);
	g_autofree char *text = sample_close(file);
	g_assert_cmpstr(text, ==,
		"  n  less  sequence\n"
		"  1     2  ⟨a⟩\n"
		"100   200  a sequence that is much too long to fit\n");
}

static void test_table_terminal(void)
{
	LodeTerminal terminal = {.width = 40, .has_colour = true};
	FILE *file = sample_open();

	g_assert_cmpuint(lode_table_write(&table, &terminal, file), ==, 1u << 1);
	g_autofree char *text = sample_close(file);
	g_assert_null(strstr(text, "less"));
	g_assert_nonnull(strstr(text, "\x1b[31m"));
	g_assert_nonnull(strstr(text, "…"));
	g_autoptr(GRegex) codes = g_regex_new("\x1b\\[[0-9]+m", 0, 0, NULL);
	g_autofree char *plain = g_regex_replace_literal(codes, text, -1, 0, "", 0, NULL);
	g_auto(GStrv) lines = g_strsplit(plain, "\n", -1);
	for (guint i = 0; lines[i] != NULL; i++)
		g_assert_cmpuint(lode_display_width(lines[i]), <=, 40);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/rows/csv", test_csv);
	g_test_add_func("/views/rows/csv-formulas", test_csv_formulas);
	g_test_add_func("/views/rows/table-pipe", test_table_pipe);
	g_test_add_func("/views/rows/table-terminal", test_table_terminal);
	return g_test_run();
}
