/* SPDX-License-Identifier: MIT */
/* What is not a regular file is neither opened nor waited for. */
#include "base/error.h"
#include "base/files/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_refused(const char *path, int flags, int code)
{
	g_autoptr(GError) error = NULL;

	g_assert_cmpint(lode_regular_file_open(path, flags, &error), ==, -1);
	g_assert_cmpint(errno, ==, code);
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
	g_assert_null(strstr(error->message, path));
}

/* A FIFO without a writer, and one whose writer has written something, which must stay in it. */
static void test_open(void)
{
	g_autofree char *directory = g_dir_make_tmp("lode-test-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "file", NULL);
	g_autofree char *fifo = g_build_filename(directory, "fifo", NULL);
	g_autofree char *link = g_build_filename(directory, "link", NULL);
	g_autoptr(GError) error = NULL;
	char byte = 0;

	g_assert_true(g_file_set_contents(file, "abc", 3, NULL));
	g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
	g_assert_cmpint(symlink("file", link), ==, 0);
	check_refused(fifo, 0, ENOTSUP);
	int writer = open(fifo, O_RDWR | O_NONBLOCK);
	g_assert_cmpint(write(writer, "x", 1), ==, 1);
	check_refused(fifo, 0, ENOTSUP);
	g_assert_cmpint(read(writer, &byte, 1), ==, 1);
	close(writer);
	check_refused("/dev/null", 0, ENOTSUP);
	check_refused(directory, 0, ENOTSUP);
	check_refused("/there/is/none", 0, ENOENT);
	check_refused(link, O_NOFOLLOW, ELOOP);
	int descriptor = lode_regular_file_open(link, 0, &error);
	g_assert_no_error(error);
	g_assert_cmpint(read(descriptor, &byte, 1), ==, 1);
	g_assert_cmpint(byte, ==, 'a');
	g_assert_cmpint(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, !=, 0);
	close(descriptor);

	g_autofree char *text = lode_regular_file_read(file, 3, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(text, ==, "abc");
	g_assert_null(lode_regular_file_read(file, 2, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_clear_error(&error);
	g_assert_null(lode_regular_file_read(fifo, 3, &error));
	g_assert_nonnull(strstr(error->message, fifo));
	g_unlink(file);
	g_unlink(fifo);
	g_unlink(link);
	g_rmdir(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/regular-file/open", test_open);
	return g_test_run();
}
