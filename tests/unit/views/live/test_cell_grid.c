/* SPDX-License-Identifier: MIT */
/* The grid keeps its borders, and a stranger's text does no harm. */
#include "views/live/cell_grid.h"

static void check_text(const LodeCellGrid *grid, const char *expected)
{
	g_autofree char *text = lode_cell_grid_text(grid);

	g_assert_cmpstr(text, ==, expected);
}

static void test_borders(void)
{
	g_auto(LodeCellGrid) grid;
	const LodeCellPlace place = {.x = 2, .y = 1, .width = 9};

	lode_cell_grid_init(&grid, 4, 2);
	g_assert_cmpuint(lode_cell_grid_write(&grid, &place, "abcdef"), ==, 6);
	lode_cell_grid_put(&grid, 0, 2, 'x', LODE_CELL_PLAIN);
	lode_cell_grid_put(&grid, 4, 0, 'x', LODE_CELL_PLAIN);
	check_text(&grid, "\n  ab\n");
	lode_cell_grid_paint(&grid, 3, 1, G_MAXUINT, LODE_CELL_BOLD);
	g_assert_cmpint(grid.cells[7].style, ==, LODE_CELL_BOLD);
	g_assert_cmpint(grid.cells[6].style, ==, LODE_CELL_PLAIN);
	g_assert_cmpint(grid.cells[0].style, ==, LODE_CELL_PLAIN);
}

static void test_strange_text(void)
{
	g_auto(LodeCellGrid) grid;
	LodeCellPlace place = {.width = 20};

	lode_cell_grid_init(&grid, 20, 2);
	/* An escape code, a byte that is not UTF-8, a wide character, a combining one. */
	lode_cell_grid_write(&grid, &place,
		"a\033[2J\xff"
		"b\xe4\xb8\xad"
		"e\xcc\x81"
		"\xc3\xa4");
	place.y = 1;
	place.is_ascii = true;
	lode_cell_grid_write(&grid, &place,
		"\xc3\xa4"
		"b\x7f");
	check_text(&grid, "a?[2J?b?e?\xc3\xa4\n?b?\n");
}

static void test_width(void)
{
	g_auto(LodeCellGrid) grid;
	const LodeCellPlace place = {.width = 3, .style = LODE_CELL_DIM};

	lode_cell_grid_init(&grid, 8, 1);
	g_assert_cmpuint(lode_cell_grid_write(&grid, &place, "abcdef"), ==, 3);
	check_text(&grid, "abc\n");
	g_assert_cmpint(grid.cells[2].style, ==, LODE_CELL_DIM);
	g_assert_cmpint(grid.cells[3].style, ==, LODE_CELL_PLAIN);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/cell_grid/borders", test_borders);
	g_test_add_func("/cell_grid/strange_text", test_strange_text);
	g_test_add_func("/cell_grid/width", test_width);
	return g_test_run();
}
