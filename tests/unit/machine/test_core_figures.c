/* SPDX-License-Identifier: MIT */
/* The figures of this machine's core, and how they are kept between recordings. */
#include "machine/figures/core_figures.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>

static void test_names(void)
{
	for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++) {
		const char *name = lode_core_figure_name((LodeCoreFigure)i);
		g_assert_nonnull(name);
		for (unsigned k = 0; k < i; k++)
			g_assert_cmpstr(name, !=, lode_core_figure_name((LodeCoreFigure)k));
	}
	g_assert_null(lode_core_figure_name(LODE_N_CORE_FIGURES));
}

static void test_valid(void)
{
	static const struct {
		LodeCoreCycles cycles;
		bool is_valid;
	} cases[] = {
		{{4, 3, 5}, true},
		{{4, 4, 4}, true},
		{{0, 0, 0}, false},
		{{4, 5, 6}, false},
		{{4, 3, 3.5}, false},
		{{4, -1, 5}, false},
		{{4, 3, 1e9}, false},
		{{(double)NAN, 3, 5}, false},
		{{4, 3, (double)NAN}, false},
		{{4, (double)NAN, 5}, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpint(
			lode_core_cycles_are_valid(&cases[i].cycles), ==, cases[i].is_valid);
}

/* Whatever else the machine does, a figure is reasonable or none. */
static void check(const LodeCoreFigures *figures)
{
	for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++)
		g_assert_true(
			lode_core_cycles_are_valid(&figures->of[i]) || figures->of[i].high == 0);
}

static void change(GKeyFile *file, const char *path, const char *key, const char *text)
{
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);

	g_key_file_set_string(file, groups[0], key, text);
	g_assert_true(g_key_file_save_to_file(file, path, NULL));
}

/* A file with one figure that no machine has, and all others unknown. */
static void write_known(const char *path, const char *group, gint64 measured)
{
	g_autoptr(GKeyFile) file = g_key_file_new();

	g_key_file_set_int64(file, group, "measured", measured);
	for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++)
		g_key_file_set_string(file, group, lode_core_figure_name((LodeCoreFigure)i),
			i == LODE_CORE_LOAD ? "77;76;78;" : "0;0;0;");
	g_assert_true(g_key_file_save_to_file(file, path, NULL));
}

static double kept_load(const char *path)
{
	LodeCoreFigures figures = lode_core_figures_of_machine(path);

	check(&figures);
	return figures.of[LODE_CORE_LOAD].median;
}

/* The name of this machine in the file, which any figures that are kept there have. */
static char *group_of_machine(const char *path)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_auto(GStrv) groups = NULL;

	for (int tries = 0; tries < 50 && (groups == NULL || groups[0] == NULL); tries++) {
		LodeCoreFigures figures = lode_core_figures_of_machine(path);
		check(&figures);
		g_strfreev(groups);
		groups = g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL)
		                 ? g_key_file_get_groups(file, NULL)
		                 : NULL;
	}
	return groups != NULL ? g_strdup(groups[0]) : NULL;
}

static void test_kept(void)
{
	static const char *const damaged[] = {"", "77;76;", "77;76;78;79;", "77;76;x;", "77;78;79;",
		"77;-76;78;", "nan;nan;nan;", "77;76;1e300;"};
	g_autofree char *directory = g_dir_make_tmp("lode-figures-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "below", "figures.ini", NULL);
	g_autofree char *folder = g_path_get_dirname(path);
	g_autofree char *group = group_of_machine(path);
	gint64 now = g_get_real_time() / G_USEC_PER_SEC;

	if (group == NULL) {
		g_rmdir(folder);
		g_rmdir(directory);
		g_test_skip("no figures: another architecture, or no processor of one's own");
		return;
	}
	write_known(path, group, now);
	g_assert_cmpfloat(kept_load(path), ==, 77);
	write_known(path, "another machine", now);
	g_assert_cmpfloat(kept_load(path), !=, 77);
	write_known(path, group, now - 8 * 24 * 3600);
	g_assert_cmpfloat(kept_load(path), !=, 77);
	write_known(path, group, now + 3600);
	g_assert_cmpfloat(kept_load(path), !=, 77);
	for (size_t i = 0; i < G_N_ELEMENTS(damaged); i++) {
		g_autoptr(GKeyFile) file = g_key_file_new();
		write_known(path, group, now);
		g_assert_true(g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL));
		change(file, path, "load", damaged[i]);
		g_assert_cmpfloat(kept_load(path), !=, 77);
	}
	g_assert_true(g_file_set_contents(path, "no key file", -1, NULL));
	g_assert_cmpfloat(kept_load(path), !=, 77);
	g_remove(path);
	g_rmdir(folder);
	g_rmdir(directory);
}

/* Figures of this machine are none of another one's. */
static void test_given(void)
{
	g_autofree char *directory = g_dir_make_tmp("lode-figures-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "figures.ini", NULL);

	g_assert_true(g_setenv("LODE_PROCESSOR", "GenuineIntel,6,143,8", TRUE));
	LodeCoreFigures figures = lode_core_figures_of_machine(path);
	g_unsetenv("LODE_PROCESSOR");
	for (unsigned i = 0; i < LODE_N_CORE_FIGURES; i++)
		g_assert_cmpfloat(figures.of[i].high, ==, 0);
	g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
	g_rmdir(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	/* the tests' own would leave none to be measured */
	g_unsetenv("LODE_PROCESSOR");
	g_test_add_func("/core_figures/names", test_names);
	g_test_add_func("/core_figures/valid", test_valid);
	g_test_add_func("/core_figures/kept", test_kept);
	g_test_add_func("/core_figures/given", test_given);
	return g_test_run();
}
