/* SPDX-License-Identifier: MIT */
/* Perf maps: made ones, broken ones, and one that Node writes here and now. */
#include "base/error.h"
#include "sources/code/perf_map.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static LodePerfMap *read_text(const char *text, GError **error)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "perf-4711.map", NULL);
	LodePerfMap *map;

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	map = lode_perf_map_read(path, error);
	g_unlink(path);
	g_rmdir(directory);
	return map;
}

static LodePerfMap *map_of(const char *text)
{
	GError *error = NULL;
	LodePerfMap *map = read_text(text, &error);

	g_assert_no_error(error);
	return map;
}

/* Reads `path` from a directory where anyone may write; the caller owns the message, NULL: read. */
static char *refusal(const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePerfMap) map = lode_perf_map_read(path, &error);

	g_assert_true((map == NULL) == (error != NULL));
	return error != NULL ? g_strdup(error->message) : NULL;
}

/* What another user may have put there is not read. */
static void test_owner(void)
{
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "perf-4711.map", NULL);
	g_autofree char *link = g_build_filename(directory, "perf-4712.map", NULL);
	g_autofree char *own = NULL, *linked = NULL, *linked_at_home = NULL, *foreign = NULL;

	g_assert_true(g_file_set_contents(path, "1000 8 f\n", -1, NULL));
	g_assert_cmpint(symlink("perf-4711.map", link), ==, 0);
	linked_at_home = refusal(link);
	g_assert_null(linked_at_home);
	g_assert_cmpint(g_chmod(directory, 01777), ==, 0);
	own = refusal(path);
	g_assert_null(own);
	linked = refusal(link);
	g_assert_nonnull(strstr(linked, "perf-4712.map: a symbolic link in a directory"));
	if (geteuid() == 0) {
		g_assert_cmpint(chown(path, 12345, 12345), ==, 0);
		foreign = refusal(path);
		g_assert_nonnull(strstr(foreign, "perf-4711.map: neither yours nor root's"));
	}
	g_unlink(link);
	g_unlink(path);
	g_rmdir(directory);
}

static const char *name_at(const LodePerfMap *map, uint64_t address)
{
	const LodePerfMapEntry *entry = lode_perf_map_find(map, address);

	return entry != NULL ? entry->name : NULL;
}

static void test_lines(void)
{
	g_autoptr(LodePerfMap) map = map_of("2000 10 with a  blank\n\n"
					    "0x1000 0x20 Lcom/a;::f\r\n"
					    "3000 0 nothing\n"
					    "4000 8 bad\xff\n"
					    "5000 8\n"
					    "5000 8 \n"
					    "6000 8 no line feed");

	g_assert_cmpuint(map->pid, ==, 4711);
	g_assert_cmpuint(map->entries->len, ==, 5);
	g_assert_cmpstr(name_at(map, 0x1000), ==, "Lcom/a;::f");
	g_assert_cmpstr(name_at(map, 0x101f), ==, "Lcom/a;::f");
	g_assert_null(name_at(map, 0x1020));
	g_assert_null(name_at(map, 0xfff));
	g_assert_cmpstr(name_at(map, 0x200f), ==, "with a  blank");
	g_assert_null(name_at(map, 0x3000));
	g_assert_cmpstr(name_at(map, 0x4000), ==, "bad\xef\xbf\xbd");
	g_assert_cmpstr(name_at(map, 0x5000), ==, "code_5000");
	g_assert_cmpstr(name_at(map, 0x6000), ==, "no line feed");
	g_assert_null(name_at(map, 0));
	g_assert_null(name_at(map, UINT64_MAX));
}

static void test_overlap(void)
{
	g_autoptr(LodePerfMap) map = map_of("1000 100 a\n1040 10 b\n10f0 100 c\n1000 8 d\n");
	const LodePerfMapEntry *entries = (const void *)map->entries->data;

	g_assert_cmpuint(map->entries->len, ==, 5);
	for (guint i = 1; i < map->entries->len; i++)
		g_assert_cmpuint(
			entries[i - 1].address + entries[i - 1].size, <=, entries[i].address);
	g_assert_cmpstr(name_at(map, 0x1007), ==, "d");
	g_assert_cmpstr(name_at(map, 0x1008), ==, "a");
	g_assert_cmpstr(name_at(map, 0x104f), ==, "b");
	g_assert_cmpstr(name_at(map, 0x1050), ==, "a");
	g_assert_cmpstr(name_at(map, 0x10f0), ==, "c");
	g_assert_cmpstr(name_at(map, 0x11ef), ==, "c");
}

static void test_errors(void)
{
	static const char *const broken[] = {"1000 10 a\nx 10 b\n", "1000 10 a\n10\n",
		"1000 10 a\n1000 z b\n", "1000 10 a\n11112222333344445 10 b\n",
		"1000 10 a\nffffffffffffffff 2 b\n", "1000 10 a\n-1000 2 b\n"};
	g_autoptr(GError) error = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(broken); i++) {
		g_autoptr(GError) cause = NULL;
		g_assert_null(read_text(broken[i], &cause));
		g_assert_error(cause, LODE_ERROR, LODE_ERROR_CORRUPT);
		g_assert_nonnull(strstr(cause->message, "perf-4711.map: line 2: "));
	}
	g_assert_null(lode_perf_map_read("/nonexistent/perf-1.map", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_IO);
}

/* What a killed program wrote last is left out. */
static void test_truncated(void)
{
	g_autoptr(LodePerfMap) map = map_of("1000 10 a\n20");

	g_assert_cmpuint(map->entries->len, ==, 1);
}

static void test_names(void)
{
	g_assert_true(lode_perf_map_is_name("/tmp/perf-12.map"));
	g_assert_true(lode_perf_map_is_name("perf-0.map"));
	g_assert_false(lode_perf_map_is_name("perf-.map"));
	g_assert_false(lode_perf_map_is_name("perf--1.map"));
	g_assert_true(lode_perf_map_is_name("perf-12.map.zst"));
	g_assert_false(lode_perf_map_is_name("perf-12.map.old"));
	g_assert_false(lode_perf_map_is_name("perf-12.zst"));
	g_assert_false(lode_perf_map_is_name("perf-99999999999.map"));
	g_assert_false(lode_perf_map_is_name("/perf-12.map/data"));
}

static void test_node(void)
{
	const char *const argv[] = {"node", "--perf-basic-prof", "-e",
		"function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }"
		"for (let i = 0; i < 3000; i++) hot(10000); console.log(process.pid)",
		NULL};
	g_autofree char *output = NULL;
	g_autoptr(GError) error = NULL;
	unsigned n_hot = 0;
	int status;

	/* V8 writes it to /tmp whatever is said, and a log to the directory that it is in */
	g_autofree char *directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	if (!g_spawn_sync(directory, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output,
		    NULL, &status, NULL) ||
		status != 0) {
		g_rmdir(directory);
		g_test_skip("no node with --perf-basic-prof");
		return;
	}
	g_autofree char *path = g_strdup_printf("/tmp/perf-%s.map", g_strstrip(output));
	g_autoptr(LodePerfMap) map = lode_perf_map_read(path, &error);
	g_assert_no_error(error);
	g_unlink(path);
	for (guint i = 0; i < map->entries->len; i++)
		n_hot += strstr(g_array_index(map->entries, LodePerfMapEntry, i).name,
				 "*hot [eval]") != NULL;
	g_assert_cmpuint(map->entries->len, >, 500);
	g_assert_cmpuint(n_hot, >, 0);
	g_autoptr(GDir) listing = g_dir_open(directory, 0, NULL);
	for (const char *name; (name = g_dir_read_name(listing)) != NULL;) {
		g_autofree char *log = g_build_filename(directory, name, NULL);
		g_unlink(log);
	}
	g_rmdir(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/perf_map/lines", test_lines);
	g_test_add_func("/perf_map/owner", test_owner);
	g_test_add_func("/perf_map/overlap", test_overlap);
	g_test_add_func("/perf_map/errors", test_errors);
	g_test_add_func("/perf_map/truncated", test_truncated);
	g_test_add_func("/perf_map/names", test_names);
	g_test_add_func("/perf_map/node", test_node);
	return g_test_run();
}
