/* SPDX-License-Identifier: MIT */
#include "base/arrays/name_table.h"

/* Each name has one number, and stays what it was when the caller's copy is gone. */
static void test_numbers(void)
{
	LodeNameTable table;

	lode_name_table_init(&table);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 3000; i++) {
			g_autofree char *name = g_strdup_printf("%u", i * 7);
			g_assert_cmpuint(lode_name_table_add(&table, name), ==, i);
		}
		g_assert_cmpuint(table.names->len, ==, 3000);
	}
	g_assert_cmpstr(lode_name_table_name(&table, 2999), ==, "20993");
	g_assert_cmpuint(lode_name_table_add(&table, ""), ==, 3000);
	lode_name_table_clear(&table);
	g_assert_null(table.names);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/name_table/numbers", test_numbers);
	return g_test_run();
}
