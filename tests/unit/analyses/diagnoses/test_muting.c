/* SPDX-License-Identifier: MIT */
/* Files that mute diagnoses: which names they match, and what is refused. */
#include "analyses/diagnoses/muting.h"
#include "base/error.h"

#include <glib/gstdio.h>

static LodeDiagnoses *named(const char *const *names)
{
	LodeDiagnoses *self = lode_diagnoses_new();

	for (; *names != NULL; names++) {
		LodeDiagnosis *one = lode_diagnosis_new("division", LODE_SCOPE_FUNCTION);
		one->name = g_strdup(*names);
		g_ptr_array_add(self->diagnoses, one);
	}
	return self;
}

/* In a folder of its own, which is the current one. */
static void begin(char **out_folder)
{
	*out_folder = g_dir_make_tmp(NULL, NULL);
	g_assert_nonnull(*out_folder);
	g_assert_cmpint(g_chdir(*out_folder), ==, 0);
}

static void end(char *folder)
{
	g_unlink("known");
	g_unlink(LODE_MUTING_FILE);
	g_assert_cmpint(g_chdir("/"), ==, 0);
	g_rmdir(folder);
	g_free(folder);
}

static void test_names(void)
{
	static const char *const names[] = {"division@hash_step", "division@f[2]", "division@f2",
		"service-stdio@fputc", "atomic@functions", NULL};
	/* "[2]" is a name, and a set that has 2. */
	static const bool expected[] = {true, true, true, true, false};
	g_autoptr(LodeDiagnoses) diagnoses = named(names);
	char *folder;

	begin(&folder);
	g_assert_true(g_file_set_contents("known",
		"# all of stdio\n  service-stdio@*\r\n\n\t#x@y\ndivision@hash*\ndivision@f[2]", -1,
		NULL));
	g_auto(GStrv) globs = lode_muting_read("known", NULL);
	g_assert_nonnull(globs);
	g_assert_cmpuint(g_strv_length(globs), ==, 3);
	lode_muting_apply((const char *const *)globs, diagnoses);
	for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
		g_assert_cmpint(lode_diagnoses_at(diagnoses, i)->is_muted, ==, expected[i]);
	end(folder);
}

static void test_default(void)
{
	char *folder;

	begin(&folder);
	g_auto(GStrv) none = lode_muting_read(NULL, NULL);
	g_assert_cmpuint(g_strv_length(none), ==, 0);
	g_assert_true(g_file_set_contents(LODE_MUTING_FILE, "lock@*\n", -1, NULL));
	g_auto(GStrv) globs = lode_muting_read(NULL, NULL);
	g_assert_cmpstr(globs[0], ==, "lock@*");
	/* A file that is named takes its place. */
	g_auto(GStrv) empty = lode_muting_read("/dev/null", NULL);
	g_assert_cmpuint(g_strv_length(empty), ==, 0);
	end(folder);
}

static void test_wrong(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *large = g_strnfill((2 << 20), '#');
	char *folder;

	begin(&folder);
	g_assert_null(lode_muting_read("known", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_clear_error(&error);
	g_assert_null(lode_muting_read(".", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_clear_error(&error);
	g_assert_true(g_file_set_contents("known", "lock@*\ndivision\n", -1, NULL));
	g_assert_null(lode_muting_read("known", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_true(g_str_has_prefix(error->message, "known:2: 'division'"));
	g_clear_error(&error);
	g_assert_true(g_file_set_contents("known", large, -1, NULL));
	g_assert_null(lode_muting_read("known", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_clear_error(&error);
	g_assert_null(lode_muting_read("/dev/zero", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	end(folder);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/analyses/muting/names", test_names);
	g_test_add_func("/analyses/muting/default", test_default);
	g_test_add_func("/analyses/muting/wrong", test_wrong);
	return g_test_run();
}
