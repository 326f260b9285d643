/* SPDX-License-Identifier: MIT */
#include "base/files/input_file.h"

#include "base/error.h"
#include "base/files/compressed_stream.h"
#include "base/files/nameless_file.h"
#include "base/files/regular_file.h"
#include "base/files/stream_decoder.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* In recordings, copies of user stacks shrink most, to a hundredth. A file of zeros shrinks to a
 * thousandth or less, and is not a recording. */
enum {
	MAX_EXPANSION = 512,
	FREE_BYTES = 64 << 20, /* which are no harm */
	BLOCK_BYTES = 1 << 18,
};

LodeInputFile *lode_input_file_open(const char *path, GError **error)
{
	g_autoptr(LodeInputFile) self = g_new0(LodeInputFile, 1);
	struct stat status;

	self->path = g_strdup(path);
	self->fd = lode_regular_file_open(path, 0, error);
	if (self->fd < 0) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	if (fstat(self->fd, &status) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, g_strerror(errno));
		return NULL;
	}
	self->size = (uint64_t)status.st_size;
	return g_steal_pointer(&self);
}

static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes += n;
		size -= (size_t)n;
	}
	return true;
}

/* Gives how much it was; −1: an error. */
static int64_t unpack(
	const LodeInputFile *self, LodeCompressedStream *stream, int fd, GError **error)
{
	uint64_t limit = self->size < (UINT64_MAX >> 10) / MAX_EXPANSION
	                         ? FREE_BYTES + MAX_EXPANSION * self->size
	                         : UINT64_MAX;
	g_autofree char *block = g_malloc(BLOCK_BYTES);
	uint64_t size = 0;
	ptrdiff_t n;

	while ((n = lode_compressed_stream_read(stream, block, BLOCK_BYTES, error)) > 0) {
		size += (uint64_t)n;
		if (size > limit) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
				"%s: decompresses to more than %d times its size; if it is meant "
				"to, decompress it first with '%s'",
				self->path, MAX_EXPANSION, lode_compressed_stream_command(stream));
			return -1;
		}
		if (!write_all(fd, block, (size_t)n)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
				"%s: cannot decompress it to a file in %s: %s; decompress it first "
				"with '%s', or set TMPDIR",
				self->path, g_get_tmp_dir(), g_strerror(errno),
				lode_compressed_stream_command(stream));
			return -1;
		}
	}
	return n < 0 ? -1 : (int64_t)size;
}

LodeInputFile *lode_input_file_open_unpacked(const char *path, GError **error)
{
	g_autoptr(LodeInputFile) self = lode_input_file_open(path, error);

	if (self == NULL)
		return NULL;
	g_autoptr(LodeCompressedStream)
		stream = lode_compressed_stream_open(self->fd, path, LODE_STREAM_MAX_MEMORY, error);
	if (stream == NULL)
		return NULL;
	if (lode_compressed_stream_command(stream) == NULL)
		return g_steal_pointer(&self);
	int fd = lode_nameless_file_open(g_get_tmp_dir());
	if (fd < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"%s: cannot make a file in %s to decompress it to: %s; decompress it first "
			"with '%s', or set TMPDIR",
			path, g_get_tmp_dir(), g_strerror(errno),
			lode_compressed_stream_command(stream));
		return NULL;
	}
	int64_t size = unpack(self, stream, fd, error);
	close(self->fd);
	self->fd = fd;
	self->size = (uint64_t)MAX(size, 0);
	return size >= 0 ? g_steal_pointer(&self) : NULL;
}

bool lode_input_file_read_start(
	const char *path, void *out, size_t size, size_t *out_n, GError **error)
{
	g_autoptr(LodeInputFile) self = lode_input_file_open(path, error);
	ptrdiff_t n = 1;
	size_t done = 0;

	if (self == NULL)
		return false;
	g_autoptr(LodeCompressedStream)
		stream = lode_compressed_stream_open(self->fd, path, LODE_STREAM_MAX_MEMORY, error);
	if (stream == NULL)
		return false;
	while (n > 0 && done < size) {
		n = lode_compressed_stream_read(stream, (char *)out + done, size - done, error);
		done += (size_t)MAX(n, 0);
	}
	*out_n = done;
	return n >= 0;
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
