/* SPDX-License-Identifier: MIT */
#include "images/elf/mapped_file.h"

#include "base/files/regular_file.h"
#include "base/text/maps_line.h"

#include <glib.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef BTRFS_SUPER_MAGIC
#define BTRFS_SUPER_MAGIC 0x9123683E
#endif

/* These have a device of their own for stat(2) in each subvolume or mount, and another one in the
 * kernel's mappings. */
static bool has_devices_of_its_own(int descriptor)
{
	struct statfs status;

	return fstatfs(descriptor, &status) == 0 &&
	       (status.f_type == BTRFS_SUPER_MAGIC || status.f_type == OVERLAYFS_SUPER_MAGIC);
}

static LodeMappedFileMatch match_open(const LodeMappedFile *mapped, int descriptor)
{
	struct stat status;
	long generation = 0;

	if (mapped->inode == 0 || fstat(descriptor, &status) != 0)
		return LODE_MAPPED_FILE_OTHER_DEVICE;
	bool is_same_device = major(status.st_dev) == mapped->device_major &&
	                      minor(status.st_dev) == mapped->device_minor;
	if (!is_same_device && !has_devices_of_its_own(descriptor))
		return LODE_MAPPED_FILE_OTHER_DEVICE;
	if (status.st_ino != mapped->inode)
		return is_same_device ? LODE_MAPPED_FILE_OTHER_INODE
		                      : LODE_MAPPED_FILE_OTHER_DEVICE;
	/* An inode is used again for another file, which then has another generation. */
	if (mapped->generation != 0 && ioctl(descriptor, FS_IOC_GETVERSION, &generation) == 0 &&
		(uint32_t)generation != (uint32_t)mapped->generation)
		return LODE_MAPPED_FILE_OTHER_INODE;
	return LODE_MAPPED_FILE_SAME;
}

LodeMappedFileMatch lode_mapped_file_match(const LodeMappedFile *mapped, const char *path)
{
	int descriptor = lode_regular_file_open(path, 0, NULL);
	LodeMappedFileMatch match = LODE_MAPPED_FILE_OTHER_DEVICE;

	if (descriptor < 0)
		return match;
	match = match_open(mapped, descriptor);
	close(descriptor);
	return match;
}

static int open_if_same(const LodeMappedFile *mapped, const char *path)
{
	int descriptor = lode_regular_file_open(path, 0, NULL);

	if (descriptor < 0 || match_open(mapped, descriptor) == LODE_MAPPED_FILE_SAME)
		return descriptor;
	close(descriptor);
	return -1;
}

static bool has_same_name(const char *a, const char *b)
{
	const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');

	return end_a != NULL && end_b != NULL && strcmp(end_a, end_b) == 0;
}

/* Kernels from 6.10 on may name another inode in one of both places, of files of an overlay. */
static bool is_mapping(const LodeMappedFile *mapped, const LodeMapsLine *line, const char *path)
{
	if (mapped->start < line->start || mapped->start >= line->end)
		return false;
	return (line->inode == mapped->inode && line->device_major == mapped->device_major &&
		       line->device_minor == mapped->device_minor) ||
	       (line->inode != 0 && line->start == mapped->start && line->end == mapped->end &&
		       has_same_name(path, mapped->path));
}

/* The path below /proc/PID/map_files; a mapping may have grown or been cut since. NULL: none. */
static char *find_mapping(const LodeMappedFile *mapped)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)mapped->pid);
	g_autofree char *text = NULL;
	LodeMapsLine map;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		if (lode_maps_line_read(line, &map) && is_mapping(mapped, &map, line + map.path))
			return g_strdup_printf("/proc/%d/map_files/%" G_GINT64_MODIFIER
					       "x-%" G_GINT64_MODIFIER "x",
				(int)mapped->pid, (guint64)map.start, (guint64)map.end);
	}
	return NULL;
}

static int take(int descriptor, char *path, char **out_path)
{
	g_autofree char *owned = path;

	if (descriptor >= 0 && out_path != NULL)
		*out_path = g_steal_pointer(&owned);
	return descriptor;
}

int lode_mapped_file_open(const LodeMappedFile *mapped, char **out_path)
{
	char *path;
	int descriptor = -1;

	if (mapped->path[0] != '/')
		return -1;
	path = g_strdup(mapped->path);
	descriptor = take(open_if_same(mapped, path), path, out_path);
	if (descriptor < 0 && (path = find_mapping(mapped)) != NULL)
		descriptor = take(lode_regular_file_open(path, 0, NULL), path, out_path);
	if (descriptor < 0) {
		path = g_strdup_printf("/proc/%d/exe", (int)mapped->pid);
		descriptor = take(open_if_same(mapped, path), path, out_path);
	}
	if (descriptor < 0) {
		path = g_strdup_printf("/proc/%d/root%s", (int)mapped->pid, mapped->path);
		descriptor = take(open_if_same(mapped, path), path, out_path);
	}
	return descriptor;
}

bool lode_mapped_file_is_at(const struct stat *file, const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && status.st_dev == file->st_dev &&
	       status.st_ino == file->st_ino;
}
