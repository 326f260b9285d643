/* SPDX-License-Identifier: MIT */
#include "base/file_kind.h"

#include "base/error.h"
#include "base/files/regular_file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { START_SIZE = 72 };

/* Where the bytes of `kind` are; a profile is an SQLite file with the application id "lode". */
static const struct {
	LodeFileKind kind;
	size_t offset, size;
	const char *bytes;
} starts[] = {
	{LODE_FILE_KIND_PROFILE, 68, 4, "lode"},
	{LODE_FILE_KIND_RECORDING, 0, 8, "PERFILE2"},
	{LODE_FILE_KIND_COUNTS, 0, 8, "LDCOUN01"},
	{LODE_FILE_KIND_PACKED_TRACE, 0, 8, "\211RPS\r\n\032\n"},
};

static const char *const names[] = {
	[LODE_FILE_KIND_PROFILE] = "profile",
	[LODE_FILE_KIND_RECORDING] = "recording",
	[LODE_FILE_KIND_COUNTS] = "counts file",
	[LODE_FILE_KIND_PACKED_TRACE] = "packed trace",
};

/* The size of what was read, at most `size`; 0: nothing can be read. */
static size_t read_start(const char *path, char *start, size_t size)
{
	int file = lode_regular_file_open(path, 0, NULL);
	ssize_t n = file >= 0 ? pread(file, start, size, 0) : 0;

	if (file >= 0)
		close(file);
	return n > 0 ? (size_t)n : 0;
}

LodeFileKind lode_file_kind(const char *path)
{
	static const char sqlite[] = "SQLite format 3";
	char start[START_SIZE];
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
		return LODE_FILE_KIND_NONE;
	size_t size = read_start(path, start, sizeof(start));
	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		if (size >= starts[i].offset + starts[i].size &&
			memcmp(start + starts[i].offset, starts[i].bytes, starts[i].size) == 0 &&
			(starts[i].kind != LODE_FILE_KIND_PROFILE ||
				memcmp(start, sqlite, sizeof(sqlite)) == 0))
			return starts[i].kind;
	return LODE_FILE_KIND_OTHER;
}

bool lode_file_kind_may_replace(
	LodeFileKind kind, const char *path, const char *option, GError **error)
{
	LodeFileKind present = lode_file_kind(path);
	struct stat status;

	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s' is a directory: give the name of a file by %s", path, option);
	else if (kind != LODE_FILE_KIND_OTHER && stat(path, &status) == 0 &&
		 !S_ISREG(status.st_mode))
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s' is not a regular file: give another name by %s", path, option);
	else if (present == LODE_FILE_KIND_NONE || present == kind)
		return true;
	else if (kind != LODE_FILE_KIND_OTHER)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s' is not a %s, and is not overwritten: give another name by %s, or "
			"remove it",
			path, names[kind], option);
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s' is a %s, and is not overwritten: give another name by %s", path,
			names[present], option);
	return false;
}

bool lode_file_begins_with(const char *path, const void *bytes, size_t size)
{
	char start[START_SIZE];

	return size <= sizeof(start) && read_start(path, start, size) == size &&
	       memcmp(start, bytes, size) == 0;
}

bool lode_file_is_same(const char *path, const char *other)
{
	const char *paths[] = {path, other};
	struct stat status[2];
	bool exists[2];

	for (int i = 0; i < 2; i++)
		exists[i] = (strcmp(paths[i], "-") == 0 ? fstat(STDIN_FILENO, &status[i])
							: stat(paths[i], &status[i])) == 0;
	if (exists[0] && exists[1])
		return S_ISREG(status[0].st_mode) && status[0].st_dev == status[1].st_dev &&
		       status[0].st_ino == status[1].st_ino;
	g_autofree char *one = g_canonicalize_filename(path, NULL);
	g_autofree char *two = g_canonicalize_filename(other, NULL);
	return !exists[0] && !exists[1] && strcmp(one, two) == 0;
}
