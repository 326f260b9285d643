/* SPDX-License-Identifier: MIT */
/* The file of a mapping of this process, wherever it lies now. */
#include "base/text/maps_line.h"
#include "images/elf/mapped_file.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 4096 };

typedef struct {
	char *folder, *path;
	void *address;
	LodeMappedFile mapped;
	char *line; /* of /proc/self/maps */
} Mapping;

/* As the kernel tells of it. */
static void read_mapping(Mapping *self)
{
	g_autofree char *text = NULL;
	LodeMapsLine map;

	g_assert_true(g_file_get_contents("/proc/self/maps", &text, NULL, NULL));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (size_t i = 0; lines[i] != NULL; i++) {
		if (!lode_maps_line_read(lines[i], &map) || map.start != (uintptr_t)self->address)
			continue;
		self->line = g_strdup(lines[i]);
		self->mapped = (LodeMappedFile){
			.pid = getpid(),
			.start = map.start,
			.end = map.end,
			.device_major = map.device_major,
			.device_minor = map.device_minor,
			.inode = map.inode,
			.path = self->line + map.path,
		};
	}
	g_assert_nonnull(self->line);
}

static void map(Mapping *self, int descriptor)
{
	g_assert_cmpint(descriptor, >=, 0);
	g_assert_cmpint(ftruncate(descriptor, SIZE), ==, 0);
	g_assert_cmpint(pwrite(descriptor, "first", 5, 0), ==, 5);
	self->address = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, descriptor, 0);
	g_assert_true(self->address != MAP_FAILED);
	close(descriptor);
}

static void map_file(Mapping *self)
{
	g_autofree char *folder = g_dir_make_tmp(NULL, NULL);

	/* as the kernel names it, which follows no links */
	self->folder = realpath(folder, NULL);
	self->path = g_build_filename(self->folder, "file", NULL);
	map(self, open(self->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

static void clear(Mapping *self)
{
	munmap(self->address, SIZE);
	if (self->path != NULL) {
		g_unlink(self->path);
		g_assert_cmpint(g_rmdir(self->folder), ==, 0);
	}
	free(self->folder);
	g_free(self->path);
	g_free(self->line);
}

/* Whether this process may follow what stands in map_files. */
static bool may_follow_mappings(const Mapping *self)
{
	g_autofree char *path = g_strdup_printf("/proc/self/map_files/%" G_GINT64_MODIFIER
						"x-%" G_GINT64_MODIFIER "x",
		(guint64)self->mapped.start, (guint64)self->mapped.end);
	int descriptor = open(path, O_PATH | O_CLOEXEC);

	if (descriptor >= 0)
		close(descriptor);
	return descriptor >= 0;
}

static void check_first(const LodeMappedFile *mapped, const char *where)
{
	g_autofree char *path = NULL;
	char content[5] = "";
	int descriptor = lode_mapped_file_open(mapped, &path);

	g_assert_cmpint(descriptor, >=, 0);
	g_assert_cmpint(pread(descriptor, content, sizeof(content), 0), ==, sizeof(content));
	g_assert_true(strncmp(content, "first", sizeof(content)) == 0);
	close(descriptor);
	g_assert_nonnull(strstr(path, where));
	g_assert_cmpint(access(path, R_OK), ==, 0);
}

static void check_none(const LodeMappedFile *mapped)
{
	g_autofree char *path = NULL;

	g_assert_cmpint(lode_mapped_file_open(mapped, &path), ==, -1);
	g_assert_null(path);
}

static void test_at_its_path(void)
{
	Mapping mapping = {0};
	struct stat status;

	map_file(&mapping);
	read_mapping(&mapping);
	check_first(&mapping.mapped, mapping.path);
	g_assert_cmpint(stat(mapping.path, &status), ==, 0);
	g_assert_true(lode_mapped_file_is_at(&status, mapping.path));
	g_assert_false(lode_mapped_file_is_at(&status, mapping.folder));
	/* an old kernel's records have no inode, and then no file is the one */
	mapping.mapped.inode = 0;
	mapping.mapped.start = 0;
	check_none(&mapping.mapped);
	clear(&mapping);
}

/* What the kernel says of the file before and after; the new one is never taken for it. */
static void test_replaced(void)
{
	Mapping mapping = {0};
	LodeMappedFile before;
	g_autofree char *line = NULL;

	map_file(&mapping);
	read_mapping(&mapping);
	before = mapping.mapped;
	line = g_steal_pointer(&mapping.line);
	g_assert_cmpint(g_unlink(mapping.path), ==, 0);
	g_assert_true(g_file_set_contents(mapping.path, "other", -1, NULL));
	read_mapping(&mapping);
	g_assert_true(g_str_has_suffix(mapping.mapped.path, " (deleted)"));
	if (may_follow_mappings(&mapping)) {
		check_first(&before, "map_files");
		check_first(&mapping.mapped, "map_files");
		/* a record may tell of a part of what is mapped now */
		before.end -= SIZE / 2;
		check_first(&before, "map_files");
	} else {
		check_none(&before);
		check_none(&mapping.mapped);
	}
	clear(&mapping);
}

static void test_without_a_path(void)
{
	Mapping mapping = {0};

	map(&mapping, memfd_create("code", MFD_CLOEXEC));
	read_mapping(&mapping);
	if (may_follow_mappings(&mapping))
		check_first(&mapping.mapped, "map_files");
	else
		check_none(&mapping.mapped);
	clear(&mapping);
}

/* The mapping is gone, and the process still executes the file. */
static void test_executed(void)
{
	struct stat status;
	LodeMappedFile mapped = {.pid = getpid(), .path = "/nowhere/program", .start = 1};
	g_autofree char *path = NULL, *text = NULL;
	LodeMapsLine map;

	g_assert_cmpint(stat("/proc/self/exe", &status), ==, 0);
	g_assert_true(g_file_get_contents("/proc/self/maps", &text, NULL, NULL));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (size_t i = 0; lines[i] != NULL; i++)
		if (lode_maps_line_read(lines[i], &map) && map.inode == status.st_ino) {
			mapped.device_major = map.device_major;
			mapped.device_minor = map.device_minor;
			mapped.inode = map.inode;
		}
	if (mapped.inode == 0) {
		g_test_skip("the kernel's inode is not that of stat(2)");
		return;
	}
	int descriptor = lode_mapped_file_open(&mapped, &path);
	g_assert_cmpint(descriptor, >=, 0);
	close(descriptor);
	g_assert_true(g_str_has_suffix(path, "/exe"));
}

static void test_no_file(void)
{
	LodeMappedFile mapped = {.pid = getpid(), .inode = 1};

	mapped.path = "[vdso]";
	check_none(&mapped);
	mapped.path = "//anon";
	check_none(&mapped);
	mapped.path = "/dev/null";
	check_none(&mapped);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/mapped-file/at-its-path", test_at_its_path);
	g_test_add_func("/mapped-file/replaced", test_replaced);
	g_test_add_func("/mapped-file/without-a-path", test_without_a_path);
	g_test_add_func("/mapped-file/executed", test_executed);
	g_test_add_func("/mapped-file/no-file", test_no_file);
	return g_test_run();
}
