/* SPDX-License-Identifier: MIT */
#include "base/files/regular_file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_PATH finds a file without opening it. */
static int find(const char *path, int flags)
{
	struct stat status;
	int place = open(path, O_PATH | O_CLOEXEC | flags);

	if (place < 0 || (fstat(place, &status) == 0 && S_ISREG(status.st_mode)))
		return place;
	close(place);
	/* O_PATH alone opens a link that must not be followed. */
	errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTSUP;
	return -1;
}

/* By the file that was found, so that no other one takes its place meanwhile; by name in a chroot
 * without /proc. */
static int open_found(int place, const char *path, int flags)
{
	static const int read_only = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char found[32];

	g_snprintf(found, sizeof(found), "/proc/self/fd/%d", place);
	int descriptor = open(found, read_only);
	if (descriptor < 0 && errno == ENOENT)
		descriptor = open(path, read_only | flags);
	int code = errno;
	close(place);
	errno = code;
	return descriptor;
}

int lode_regular_file_open(const char *path, int flags, GError **error)
{
	int place = find(path, flags);
	int descriptor = place >= 0 ? open_found(place, path, flags) : -1;

	if (descriptor >= 0)
		return descriptor;
	int code = errno;
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_IO,
		place < 0 && code == ENOTSUP ? "not a regular file" : g_strerror(code));
	errno = code;
	return -1;
}

char *lode_regular_file_read(const char *path, size_t max_bytes, GError **error)
{
	int descriptor = lode_regular_file_open(path, 0, error);
	g_autofree char *text = g_malloc(max_bytes + 2);
	size_t size = 0;
	ssize_t n = 1;

	while (descriptor >= 0 && n > 0 && size <= max_bytes) {
		n = read(descriptor, text + size, max_bytes + 1 - size);
		size += n > 0 ? (size_t)n : 0;
		if (n < 0 && errno == EINTR)
			n = 1;
	}
	if (descriptor < 0) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	int code = errno;
	close(descriptor);
	if (n < 0)
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, g_strerror(code));
	else if (size > max_bytes)
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT, "%s: too large", path);
	if (n < 0 || size > max_bytes)
		return NULL;
	text[size] = '\0';
	return g_realloc(g_steal_pointer(&text), size + 1);
}
