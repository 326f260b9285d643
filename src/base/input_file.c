/* SPDX-License-Identifier: MIT */
#include "base/input_file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

LodeInputFile *lode_input_file_open(const char *path, GError **error)
{
	g_autoptr(LodeInputFile) self = g_new0(LodeInputFile, 1);
	struct stat status;

	self->path = g_strdup(path);
	self->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (self->fd < 0 || fstat(self->fd, &status) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, g_strerror(errno));
		return NULL;
	}
	if (!S_ISREG(status.st_mode)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: not a regular file", path);
		return NULL;
	}
	self->size = (uint64_t)status.st_size;
	return g_steal_pointer(&self);
}

void lode_input_file_close(LodeInputFile *self)
{
	if (self == NULL)
		return;
	if (self->fd >= 0)
		close(self->fd);
	g_free(self->path);
	g_free(self);
}

bool lode_input_file_read(
	const LodeInputFile *self, uint64_t offset, void *out, size_t size, GError **error)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(
			self->fd, (char *)out + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
				"%s: at offset %" G_GUINT64_FORMAT ": %s", self->path,
				offset + done,
				n < 0 ? g_strerror(errno)
				      : "the file was cut short while it was read");
			return false;
		}
		done += (size_t)n;
	}
	return true;
}

char *lode_input_file_load(
	const LodeInputFile *self, uint64_t offset, uint64_t size, GError **error)
{
	/* The range was checked against the file's size, so that adding the NUL cannot wrap. */
	g_autofree char *bytes = g_try_malloc(size + 1);

	if (bytes == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%s: not enough memory for %" G_GUINT64_FORMAT " bytes of it", self->path,
			size);
		return NULL;
	}
	bytes[size] = '\0';
	return lode_input_file_read(self, offset, bytes, (size_t)size, error)
	               ? g_steal_pointer(&bytes)
	               : NULL;
}
