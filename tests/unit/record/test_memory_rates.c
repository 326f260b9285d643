/* SPDX-License-Identifier: MIT */
/* The rates of this machine's memory, and how they are kept between recordings. */
#include "machine/figures/memory_rates.h"

#include <glib/gstdio.h>
#include <string.h>

static char *path_in(const char *directory)
{
	return g_build_filename(directory, "below", "rates.ini", NULL);
}

static void set_time(const char *path, gint64 measured)
{
	g_autoptr(GKeyFile) file = g_key_file_new();

	g_assert_true(g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL));
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
	g_key_file_set_int64(file, groups[0], "measured", measured);
	g_assert_true(g_key_file_save_to_file(file, path, NULL));
}

static void change(const char *path, const char *key, const char *text)
{
	g_autoptr(GKeyFile) file = g_key_file_new();

	g_assert_true(g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL));
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
	g_key_file_set_string(file, groups[0], key, text);
	g_assert_true(g_key_file_save_to_file(file, path, NULL));
}

/* The bounds hold on any machine, busy or not. */
static void check(const LodeMemoryRates *rates)
{
	g_assert_cmpfloat(rates->read[LODE_RATE_MEMORY], >, 0.01);
	g_assert_cmpfloat(rates->write[LODE_RATE_MEMORY], >, 0.01);
	for (unsigned i = 0; i < LODE_N_RATES; i++) {
		g_assert_cmpfloat(rates->read[i], <, 10000);
		g_assert_cmpfloat(rates->write[i], <, 10000);
		g_assert_cmpint(rates->read[i] > 0, ==, rates->write[i] > 0);
	}
}

static void test_kept(void)
{
	static const char *const damaged[] = {"", "1;2;3;", "1;2;3;x;", "1;2;3;-4;", "1;2;3;nan;"};
	g_autofree char *directory = g_dir_make_tmp("lode-rates-XXXXXX", NULL);
	g_autofree char *path = path_in(directory);
	g_autofree char *folder = g_path_get_dirname(path);
	gint64 now = g_get_real_time() / G_USEC_PER_SEC;
	const char *known = "1;2;3;4;";

	LodeMemoryRates first = lode_memory_rates_of_machine(path);
	check(&first);
	LodeMemoryRates again = lode_memory_rates_of_machine(path);
	g_assert_true(memcmp(&first, &again, sizeof(first)) == 0);
	change(path, "read", known);
	again = lode_memory_rates_of_machine(path);
	g_assert_cmpfloat(again.read[LODE_RATE_L2], ==, 2);
	/* too old, or of the future */
	set_time(path, now - 8 * 24 * 3600);
	again = lode_memory_rates_of_machine(path);
	check(&again);
	g_assert_cmpfloat(again.read[LODE_RATE_MEMORY], !=, 4);
	change(path, "read", known);
	set_time(path, now + 3600);
	again = lode_memory_rates_of_machine(path);
	g_assert_cmpfloat(again.read[LODE_RATE_MEMORY], !=, 4);
	for (size_t i = 0; i < G_N_ELEMENTS(damaged); i++) {
		change(path, "write", damaged[i]);
		again = lode_memory_rates_of_machine(path);
		check(&again);
	}
	g_assert_true(g_file_set_contents(path, "no key file", -1, NULL));
	again = lode_memory_rates_of_machine(path);
	check(&again);
	g_remove(path);
	g_rmdir(folder);
	g_rmdir(directory);
}

static void test_names(void)
{
	g_assert_cmpstr(lode_rate_level_name(LODE_RATE_L1), ==, "l1");
	g_assert_cmpstr(lode_rate_level_name(LODE_RATE_MEMORY), ==, "memory");
	g_assert_null(lode_rate_level_name(LODE_N_RATES));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/machine/memory-rates/kept", test_kept);
	g_test_add_func("/machine/memory-rates/names", test_names);
	return g_test_run();
}
