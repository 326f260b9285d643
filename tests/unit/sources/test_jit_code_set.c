/* SPDX-License-Identifier: MIT */
/* Look-ups by process, address and time over several dumps and maps. */
#include "base/error.h"
#include "jitdump_bytes.h"
#include "sources/code/jit_code_set.h"

#include <sys/stat.h>

typedef struct {
	char *directory, *first, *second, *map;
	LodeJitCodeSet *set;
} Fixture;

static char *write_dump(const char *directory, const char *name, JitdumpBytes *bytes)
{
	char *path = g_build_filename(directory, name, NULL);
	g_autofree char *made = jitdump_end(bytes);

	g_assert_cmpint(g_rename(made, path), ==, 0);
	return path;
}

static void set_up(Fixture *self, const void *data)
{
	JitdumpBytes bytes = jitdump_begin(false, 5, 0);

	(void)data;
	self->directory = g_dir_make_tmp("lode-XXXXXX", NULL);
	put_load(&bytes, &(JitdumpLoad){10, 0x1000, 16, 1, "a", 1});
	put_load(&bytes, &(JitdumpLoad){20, 0x1000, 8, 2, "b", 2});
	self->first = write_dump(self->directory, "jit-500.dump", &bytes);
	bytes = jitdump_begin(false, 600, data != NULL); /* 1: the processor's clock */
	put_load(&bytes, &(JitdumpLoad){10, 0x1000, 16, 1, "c", 3});
	self->second = write_dump(self->directory, "other.dump", &bytes);
	self->map = g_build_filename(self->directory, "perf-500.map", NULL);
	g_assert_true(g_file_set_contents(self->map, "1000 20 d\n", -1, NULL));
	self->set = lode_jit_code_set_new();
	const char *paths[] = {self->map, self->first, self->second};
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		g_assert_true(lode_jit_code_set_is_file(paths[i]));
		g_assert_true(lode_jit_code_set_add(self->set, paths[i], NULL));
	}
}

static void tear_down(Fixture *self, const void *data)
{
	(void)data;
	lode_jit_code_set_free(self->set);
	g_unlink(self->first);
	g_unlink(self->second);
	g_unlink(self->map);
	g_rmdir(self->directory);
	g_free(self->first);
	g_free(self->second);
	g_free(self->map);
	g_free(self->directory);
}

/* The first byte of the code that is found, or −1. */
static int byte_at(const Fixture *self, uint32_t pid, uint64_t address, uint64_t time_ns)
{
	LodeJitPlace place = {NULL, 77};
	g_autofree char *contents = NULL;
	size_t size;

	if (lode_jit_code_set_find(self->set, pid, address, time_ns, &place) != LODE_JIT_FOUND) {
		g_assert_null(place.path);
		g_assert_cmpuint(place.address, ==, 77);
		return -1;
	}
	g_assert_true(g_file_get_contents(place.path, &contents, &size, NULL));
	g_assert_cmpuint(place.address, <, size);
	return contents[place.address];
}

static void test_find(Fixture *self, const void *data)
{
	LodeJitPlace place;

	(void)data;
	g_assert_cmpint(byte_at(self, 5, 0x1000, 15), ==, 1);
	g_assert_cmpint(byte_at(self, 5, 0x1000, 25), ==, 2);
	g_assert_cmpint(byte_at(self, 5, 0x1000, UINT64_MAX), ==, 2);
	g_assert_cmpint(byte_at(self, 5, 0x1008, 25), ==, 1);
	/* before its report: what is reported next */
	g_assert_cmpint(byte_at(self, 5, 0x1000, 3), ==, 1);
	/* by the name's number, another process, no process */
	g_assert_cmpint(byte_at(self, 500, 0x1000, 15), ==, 1);
	g_assert_cmpint(byte_at(self, 600, 0x1000, 15), ==, 3);
	g_assert_cmpint(byte_at(self, 7, 0x1000, 15), ==, -1);
	g_assert_cmpint(byte_at(self, 600, 0x1010, 15), ==, -1);
	/* the map is asked after the dump */
	g_assert_cmpint(
		lode_jit_code_set_find(self->set, 500, 0x1015, 15, &place), ==, LODE_JIT_FOUND);
	g_assert_cmpstr(place.path, ==, self->map);
	g_assert_cmphex(place.address, ==, 0x1015);
	g_assert_cmpint(
		lode_jit_code_set_find(self->set, 5, 0x1015, 15, &place), ==, LODE_JIT_NONE);
}

static void test_arch_clock(Fixture *self, const void *data)
{
	(void)data;
	g_assert_cmpint(byte_at(self, 600, 0x1000, 1), ==, 3);
}

/* Without a time, what alone ever lay there. */
static void test_unknown_time(Fixture *self, const void *data)
{
	LodeJitPlace place = {NULL, 77, 0};

	(void)data;
	g_assert_cmpint(lode_jit_code_set_find(self->set, 5, 0x1000, LODE_JIT_TIME_UNKNOWN, &place),
		==, LODE_JIT_AMBIGUOUS);
	g_assert_null(place.path);
	g_assert_cmpint(byte_at(self, 5, 0x1008, LODE_JIT_TIME_UNKNOWN), ==, 1);
	g_assert_cmpint(byte_at(self, 600, 0x1000, LODE_JIT_TIME_UNKNOWN), ==, 3);
}

/* In a namespace a process has a number of its own, and a dump is its that it has mapped. */
static void test_namespaces(Fixture *self, const void *data)
{
	struct stat first;
	uint32_t pid;

	(void)data;
	g_assert_cmpint(stat(self->first, &first), ==, 0);
	g_assert_nonnull(lode_jit_code_set_find_unused(self->set, &pid));
	lode_jit_code_set_note_mapping(
		self->set, 7001, "/app/jit-500.dump", first.st_dev, first.st_ino);
	lode_jit_code_set_note_mapping(self->set, 7002, "/app/other.dump", 0, 0);
	lode_jit_code_set_settle(self->set);
	g_assert_cmpint(byte_at(self, 7001, 0x1000, 25), ==, 2);
	g_assert_cmpint(byte_at(self, 7002, 0x1000, 25), ==, 3);
	g_assert_cmpint(byte_at(self, 5, 0x1000, 25), ==, -1);
	g_assert_cmpstr(lode_jit_code_set_find_unused(self->set, &pid), ==, self->map);
	g_assert_cmpuint(pid, ==, 500);
	lode_jit_code_set_mark_used(self->set, 500);
	g_assert_null(lode_jit_code_set_find_unused(self->set, &pid));
	/* Of several files of one name, none says which of them the dump is. */
	lode_jit_code_set_note_mapping(self->set, 8001, "/a/other.dump", 0, 0);
	lode_jit_code_set_note_mapping(self->set, 8002, "/b/other.dump", 0, 0);
	lode_jit_code_set_settle(self->set);
	g_assert_cmpint(byte_at(self, 8001, 0x1000, 25), ==, -1);
}

static void test_count(Fixture *self, const void *data)
{
	(void)data;
	g_assert_cmpuint(lode_jit_code_set_n_files(self->set), ==, 3);
	g_assert_true(lode_jit_code_set_has_pid(self->set, 5));
	g_assert_true(lode_jit_code_set_has_pid(self->set, 500));
	g_assert_false(lode_jit_code_set_has_pid(self->set, 7));
}

/* The command line and a recording may both name one. */
static void test_added_again(Fixture *self, const void *data)
{
	g_autofree char *name = g_path_get_basename(self->directory);
	g_autofree char *other = g_strdup_printf("%s/../%s/other.dump", self->directory, name);

	(void)data;
	g_assert_true(lode_jit_code_set_add(self->set, self->map, NULL));
	g_assert_true(lode_jit_code_set_add(self->set, other, NULL));
	g_assert_cmpuint(lode_jit_code_set_n_files(self->set), ==, 3);
}

/* Nobody writes into it. */
static void test_named_pipe(Fixture *self, const void *data)
{
	g_autofree char *path = g_build_filename(self->directory, "perf-7.map", NULL);

	(void)data;
	g_assert_cmpint(mkfifo(path, 0600), ==, 0);
	g_assert_false(lode_jit_code_set_is_file(path));
	g_unlink(path);
}

static void test_errors(Fixture *self, const void *data)
{
	g_autoptr(GError) error = NULL;

	(void)data;
	g_assert_false(lode_jit_code_set_is_file("/proc/self/exe"));
	g_assert_false(lode_jit_code_set_is_file("/nonexistent"));
	g_assert_false(lode_jit_code_set_add(self->set, "/proc/self/exe", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CORRUPT);
	g_assert_cmpuint(lode_jit_code_set_n_files(self->set), ==, 3);
	g_assert_cmpint(byte_at(self, 5, 0x1000, 15), ==, 1);
}

#define ADD(name, data, test)                                                                      \
	g_test_add("/jit_code_set/" name, Fixture, data, set_up, test, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD("find", NULL, test_find);
	ADD("arch_clock", "arch", test_arch_clock);
	ADD("unknown_time", NULL, test_unknown_time);
	ADD("namespaces", NULL, test_namespaces);
	ADD("count", NULL, test_count);
	ADD("added_again", NULL, test_added_again);
	ADD("named_pipe", NULL, test_named_pipe);
	ADD("errors", NULL, test_errors);
	return g_test_run();
}
