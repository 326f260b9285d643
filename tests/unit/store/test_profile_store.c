/* SPDX-License-Identifier: MIT */
/* What is written is read again, equal files come of equal profiles, failures leave the old one. */
#include "base/error.h"
#include "random_profile.h"
#include "seeds.h"
#include "store/profile_store.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_profile(const char *path, LodeProfile *profile)
{
	g_autoptr(GError) error = NULL;

	lode_profile_store_write(path, profile, NULL, &error);
	g_assert_no_error(error);
}

static void assert_holds(const char *path, const LodeProfile *profile)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) again = lode_profile_store_read_with_memory(path, NULL, &error);

	g_assert_no_error(error);
	assert_equal_profiles(profile, again);
}

static void test_round_trip(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);

	for (guint32 seed = 0; seed < 60; seed++) {
		g_autoptr(LodeProfile) profile = random_profile_new(soak_seed(seed), 1 + seed);
		write_profile(path, profile);
		assert_holds(path, profile);
	}
	g_assert_cmpuint(count_files(folder), ==, 2); /* and the one before */
	remove_folder(folder);
}

/* Its samples are many, and most verbs do not look at them. */
static void test_without_memory(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) profile = random_profile_new(1, 3);

	g_assert_nonnull(profile->memory);
	write_profile(path, profile);
	g_autoptr(LodeProfile) again = lode_profile_store_read(path, NULL, NULL);
	g_assert_nonnull(again);
	g_assert_null(again->memory);
	remove_folder(folder);
}

static void test_empty_profile(void)
{
	char *folder = make_folder();
	/* SQLite would take such a name for a URI. */
	g_autofree char *path = g_build_filename(folder, "file:x?mode=memory", NULL);
	g_autoptr(LodeProfile) profile = lode_profile_new();

	write_profile(path, profile);
	assert_holds(path, profile);
	g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
	remove_folder(folder);
}

/* Attributes, sets and locations keep their ids when more are added to a profile that was read. */
static void test_read_profile_grows(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) profile = random_profile_new(1, 10);
	g_autoptr(GError) error = NULL;

	write_profile(path, profile);
	g_autoptr(LodeProfile) again = lode_profile_store_read_with_memory(path, NULL, &error);
	g_assert_no_error(error);
	const LodeLocation *location = &LODE_AT(again->code.locations, LodeLocation, 3);
	LodeAttributeSet set = LODE_AT(again->code.attribute_sets, LodeAttributeSet, 5);
	g_assert_cmpuint(
		lode_profile_location(again, location->file, location->line, location->inlined), ==,
		3);
	g_assert_cmpuint(lode_profile_attribute_set(again,
				 &LODE_AT(again->code.set_members, uint32_t, set.first), set.n),
		==, 5);
	g_assert_cmpuint(
		lode_profile_attribute(again, "op:0"), ==, lode_profile_attribute(profile, "op:0"));
	g_assert_cmpuint(
		lode_profile_attribute(again, "a new one"), ==, profile->code.attributes->len);
	remove_folder(folder);
}

static GBytes *read_bytes(const char *path)
{
	char *bytes;
	gsize size;

	g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
	return g_bytes_new_take(bytes, size);
}

static void test_same_bytes(void)
{
	char *folder = make_folder();
	g_autofree char *first_path = g_build_filename(folder, "a.lode", NULL);
	g_autofree char *second_path = g_build_filename(folder, "b.lode", NULL);
	g_autoptr(LodeProfile) first = random_profile_new(7, 100);
	g_autoptr(LodeProfile) second = random_profile_new(7, 100);

	write_profile(first_path, first);
	write_profile(second_path, second);
	g_autoptr(GBytes) first_bytes = read_bytes(first_path);
	g_autoptr(GBytes) second_bytes = read_bytes(second_path);
	g_assert_true(g_bytes_equal(first_bytes, second_bytes));
	remove_folder(folder);
}

static void test_link_and_mode_are_kept(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autofree char *link_path = g_build_filename(folder, "link.lode", NULL);
	g_autoptr(LodeProfile) first = random_profile_new(1, 3);
	g_autoptr(LodeProfile) second = random_profile_new(2, 3);
	struct stat status;

	write_profile(path, first);
	g_assert_cmpint(g_chmod(path, 0640), ==, 0);
	g_assert_cmpint(symlink("x.lode", link_path), ==, 0);
	write_profile(link_path, second);
	assert_holds(path, second);
	g_assert_true(g_file_test(link_path, G_FILE_TEST_IS_SYMLINK));
	g_assert_cmpint(g_stat(path, &status), ==, 0);
	g_assert_cmpuint(status.st_mode & 0777, ==, 0640);
	remove_folder(folder);
}

static void test_refused_places(void)
{
	g_autoptr(LodeProfile) profile = random_profile_new(1, 3);
	g_autoptr(GError) error = NULL;
	char *folder = make_folder();
	g_autofree char *missing = g_build_filename(folder, "no", "x.lode", NULL);

	g_assert_false(lode_profile_store_write(folder, profile, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_clear_error(&error);
	g_assert_false(lode_profile_store_write("/dev/null", profile, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_nonnull(strstr(error->message, "'/dev/null' is not a regular file"));
	g_clear_error(&error);
	g_assert_false(lode_profile_store_write(missing, profile, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_clear_error(&error);
	g_assert_null(lode_profile_store_read_with_memory(missing, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_assert_cmpuint(count_files(folder), ==, 0);
	remove_folder(folder);
}

static void test_cancelled(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) old = random_profile_new(1, 3);
	g_autoptr(LodeProfile) new = random_profile_new(2, 3000);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	LodeProgress progress = {.cancellable = cancellable};
	g_autoptr(GError) error = NULL;

	write_profile(path, old);
	g_cancellable_cancel(cancellable);
	g_assert_false(lode_profile_store_write(path, new, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
	g_clear_error(&error);
	assert_holds(path, old);
	g_assert_cmpuint(count_files(folder), ==, 1);
	write_profile(path, new);
	g_assert_null(lode_profile_store_read_with_memory(path, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
	remove_folder(folder);
}

typedef struct {
	guint reports;
	bool is_in_bounds;
} Reports;

static void note_report(
	const char *stage, double done, double total, const char *detail, void *user_data)
{
	Reports *reports = user_data;

	(void)detail;
	reports->reports++;
	reports->is_in_bounds = reports->is_in_bounds && done <= total &&
	                        strcmp(stage, "writing the profile") == 0;
}

static void test_progress(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) profile = random_profile_new(2, 3000);
	Reports reports = {.is_in_bounds = true};
	LodeProgress progress = {.report = note_report, .user_data = &reports};

	g_assert_true(lode_profile_store_write(path, profile, &progress, NULL));
	g_assert_cmpuint(reports.reports, >, 0);
	g_assert_true(reports.is_in_bounds);
	remove_folder(folder);
}

/* A profile that breaks the model's rules is refused before a file is touched. */
static void test_broken_profile(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) profile = random_profile_new(3, 30);
	g_autoptr(GError) error = NULL;

	lode_profile_instruction(profile, 4)->count = NAN;
	g_assert_false(lode_profile_store_write(path, profile, NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, "table 'instruction', row 5: "));
	g_assert_cmpuint(count_files(folder), ==, 0);
	remove_folder(folder);
}

static pid_t pid_of_ended_process(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return child;
}

static char *make_temporary(const char *folder, const char *name, pid_t pid)
{
	g_autofree char *base = g_strdup_printf(".%s.%d-0badcafe.tmp", name, (int)pid);
	char *path = g_build_filename(folder, base, NULL);

	g_assert_true(g_file_set_contents(path, "half", -1, NULL));
	return path;
}

static void test_stale_files_are_removed(void)
{
	char *folder = make_folder();
	pid_t dead = pid_of_ended_process();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autofree char *stale = make_temporary(folder, "x.lode", dead);
	g_autofree char *living = make_temporary(folder, "x.lode", getppid());
	g_autofree char *other = make_temporary(folder, "y.lode", dead);
	g_autoptr(LodeProfile) profile = random_profile_new(1, 3);

	write_profile(path, profile);
	g_assert_false(g_file_test(stale, G_FILE_TEST_EXISTS));
	g_assert_true(g_file_test(living, G_FILE_TEST_EXISTS));
	g_assert_true(g_file_test(other, G_FILE_TEST_EXISTS));
	assert_holds(path, profile);
	remove_folder(folder);
}

/* The profile that is replaced is kept; no other file is replaced. */
static void test_old_is_kept(void)
{
	char *folder = make_folder();
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autofree char *old = g_strconcat(path, LODE_OLD_PROFILE_SUFFIX, NULL);
	g_autofree char *journal = g_strconcat(old, "-journal", NULL);
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	LodeProfile *profiles[3];

	for (guint i = 0; i < G_N_ELEMENTS(profiles); i++)
		profiles[i] = random_profile_new(1 + i, 3);
	g_assert_true(g_file_set_contents(path, "not a profile", -1, NULL));
	g_assert_false(lode_profile_store_write(path, profiles[0], NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_clear_error(&error);
	g_assert_false(lode_profile_store_write(path, profiles[0], NULL, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_clear_error(&error);
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "not a profile");
	/* an empty file, as mktemp(1) leaves it, is nobody's work */
	g_assert_true(g_file_set_contents(path, "", 0, NULL));
	for (guint i = 0; i < G_N_ELEMENTS(profiles); i++) {
		lode_profile_store_write(path, profiles[i], NULL, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(count_files(folder), ==, i == 0 ? 1 : 2);
		assert_holds(path, profiles[i]);
		if (i > 0)
			assert_holds(old, profiles[i - 1]);
		/* What an interrupted write left beside the old one does not enter the next. */
		if (i == 1)
			g_assert_true(g_file_set_contents(journal, "journal", -1, NULL));
	}
	for (guint i = 0; i < G_N_ELEMENTS(profiles); i++)
		lode_profile_free(profiles[i]);
	remove_folder(folder);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/profile_store/round_trip", test_round_trip);
	g_test_add_func("/profile_store/without_memory", test_without_memory);
	g_test_add_func("/profile_store/empty_profile", test_empty_profile);
	g_test_add_func("/profile_store/read_profile_grows", test_read_profile_grows);
	g_test_add_func("/profile_store/same_bytes", test_same_bytes);
	g_test_add_func("/profile_store/link_and_mode_are_kept", test_link_and_mode_are_kept);
	g_test_add_func("/profile_store/old_is_kept", test_old_is_kept);
	g_test_add_func("/profile_store/refused_places", test_refused_places);
	g_test_add_func("/profile_store/cancelled", test_cancelled);
	g_test_add_func("/profile_store/progress", test_progress);
	g_test_add_func("/profile_store/broken_profile", test_broken_profile);
	g_test_add_func("/profile_store/stale_files_are_removed", test_stale_files_are_removed);
	return g_test_run();
}
