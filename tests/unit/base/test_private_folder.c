/* SPDX-License-Identifier: MIT */
#include "base/files/new_file.h"
#include "base/files/private_folder.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_removal(void)
{
	g_autoptr(GError) error = NULL;
	LodePrivateFolder *folder = lode_private_folder_new(&error);
	GStatBuf status;

	g_assert_no_error(error);
	g_autofree char *path = g_strdup(folder->path);
	g_autofree char *file = lode_private_folder_next(folder, "a");
	g_assert_true(g_file_set_contents(file, "a", 1, NULL));
	g_assert_cmpint(g_stat(path, &status), ==, 0);
	g_assert_cmpuint(status.st_mode & 0777, ==, 0700);
	lode_private_folder_free(folder);
	g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

static void test_names(void)
{
	g_autoptr(LodePrivateFolder) folder = lode_private_folder_new(NULL);
	g_autofree char *first = lode_private_folder_next(folder, "/a/libx.so.1");
	g_autofree char *second = lode_private_folder_next(folder, "/memfd:b c/../\xff (deleted)");
	g_autofree char *expected = g_build_filename(folder->path, "1-libx.so.1", NULL);
	g_autofree char *parent = g_path_get_dirname(second);

	g_assert_cmpstr(first, ==, expected);
	g_assert_cmpstr(parent, ==, folder->path);
	g_assert_true(g_str_has_suffix(second, "/2-___deleted_"));
}

/* A process that is killed leaves its folder; the next maker of one, or of a file, removes it. */
static void test_left(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *target = g_build_filename(g_get_tmp_dir(), "left.lode", NULL);
	int ends[2];

	for (int i = 0; i < 2; i++) {
		char left[PATH_MAX] = "";
		g_assert_cmpint(pipe(ends), ==, 0);
		pid_t child = fork();
		if (child == 0) {
			LodePrivateFolder *folder = lode_private_folder_new(NULL);
			g_autofree char *file = lode_private_folder_next(folder, "a");
			g_file_set_contents(file, "a", 1, NULL);
			ssize_t n = write(ends[1], folder->path, strlen(folder->path));
			_exit(n < 0);
		}
		close(ends[1]);
		g_assert_cmpint(read(ends[0], left, sizeof(left) - 1), >, 0);
		close(ends[0]);
		g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
		g_assert_true(g_file_test(left, G_FILE_TEST_IS_DIR));
		if (i == 0) {
			g_autoptr(LodePrivateFolder) next = lode_private_folder_new(&error);
			g_assert_no_error(error);
			g_assert_nonnull(next);
		} else {
			g_autoptr(LodeNewFile) next = lode_new_file_open(target, &error);
			g_assert_no_error(error);
			g_assert_nonnull(next);
		}
		g_assert_false(g_file_test(left, G_FILE_TEST_EXISTS));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/private-folder/removal", test_removal);
	g_test_add_func("/private-folder/names", test_names);
	g_test_add_func("/private-folder/left", test_left);
	return g_test_run();
}
