/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/file_kind.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct {
	char *folder, *path;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data)
{
	(void)data;
	fixture->folder = g_dir_make_tmp("lode-kind-XXXXXX", NULL);
	fixture->path = g_build_filename(fixture->folder, "x", NULL);
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
	(void)data;
	g_unlink(fixture->path);
	g_rmdir(fixture->folder);
	g_free(fixture->path);
	g_free(fixture->folder);
}

/* A file of a kind by its first bytes alone. */
static void make(const char *path, LodeFileKind kind)
{
	static const char *const starts[] = {
		[LODE_FILE_KIND_NONE] = "",
		[LODE_FILE_KIND_OTHER] = "SQLite format 3",
		[LODE_FILE_KIND_PROFILE] = "SQLite format 3",
		[LODE_FILE_KIND_RECORDING] = "PERFILE2",
		[LODE_FILE_KIND_COUNTS] = "LDCOUN01",
		[LODE_FILE_KIND_PACKED_TRACE] = "\211RPS\r\n\032\n",
	};
	char bytes[100] = {0};
	size_t size = strlen(starts[kind]);

	memcpy(bytes, starts[kind], size);
	if (kind == LODE_FILE_KIND_PROFILE) {
		memcpy(bytes + 68, "lode", 4);
		size = sizeof(bytes);
	}
	g_assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
}

static void test_kinds(Fixture *fixture, gconstpointer data)
{
	(void)data;
	g_assert_cmpint(lode_file_kind(fixture->path), ==, LODE_FILE_KIND_NONE);
	g_assert_cmpint(lode_file_kind(fixture->folder), ==, LODE_FILE_KIND_NONE);
	for (int kind = 0; kind <= LODE_FILE_KIND_PACKED_TRACE; kind++) {
		make(fixture->path, (LodeFileKind)kind);
		g_assert_cmpint(lode_file_kind(fixture->path), ==, kind);
	}
}

static void test_replacing(Fixture *fixture, gconstpointer data)
{
	(void)data;
	for (int present = 0; present <= LODE_FILE_KIND_PACKED_TRACE; present++) {
		make(fixture->path, (LodeFileKind)present);
		for (int kind = LODE_FILE_KIND_OTHER; kind <= LODE_FILE_KIND_PACKED_TRACE; kind++) {
			g_autoptr(GError) error = NULL;
			bool may = lode_file_kind_may_replace(
				(LodeFileKind)kind, fixture->path, "-o", &error);
			g_assert_true(may == (present == LODE_FILE_KIND_NONE || present == kind));
			if (!may)
				g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
		}
	}
}

static void test_folder(Fixture *fixture, gconstpointer data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	g_assert_false(lode_file_kind_may_replace(
		LODE_FILE_KIND_OTHER, fixture->folder, "--plot", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_nonnull(
		strstr(error->message, "is a directory: give the name of a file by --plot"));
}

static void test_same(Fixture *fixture, gconstpointer data)
{
	g_autofree char *longer = g_strdup_printf(
		"%s/../%s/x", fixture->folder, strrchr(fixture->folder, '/') + 1);
	g_autofree char *other = g_build_filename(fixture->folder, "y", NULL);

	(void)data;
	for (int exists = 0; exists < 2; exists++) {
		g_assert_true(lode_file_is_same(fixture->path, longer));
		g_assert_false(lode_file_is_same(fixture->path, other));
		make(fixture->path, LODE_FILE_KIND_OTHER);
	}
	/* A device can be read and written. */
	g_assert_false(lode_file_is_same("/dev/null", "/dev/null"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/file_kind/kinds", Fixture, NULL, set_up, test_kinds, tear_down);
	g_test_add("/file_kind/replacing", Fixture, NULL, set_up, test_replacing, tear_down);
	g_test_add("/file_kind/folder", Fixture, NULL, set_up, test_folder, tear_down);
	g_test_add("/file_kind/same", Fixture, NULL, set_up, test_same, tear_down);
	return g_test_run();
}
