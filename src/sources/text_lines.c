/* SPDX-License-Identifier: MIT */
/*
 * Reading is by blocks into one buffer that holds the unread rest of the last block before the next
 * one; it grows only when a single line is longer than it.
 */
#include "sources/text_lines.h"

#include "base/error.h"
#include "base/files/compressed_stream.h"
#include "base/files/stream_decoder.h"
#include "machine/memory_budget.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BLOCK_SIZE = 1 << 18,
	REPORT_INTERVAL_US = 100000,
};

struct LodeTextLines {
	char *path;
	char *stage; /* for the progress */
	const LodeProgress *progress;
	gint64 reported_us;
	int fd;
	uint64_t size_bytes; /* of the file; 0: unknown */
	uint64_t text_bytes, limit_bytes;
	uint64_t number;
	bool is_terminated;
	bool is_at_end; /* nothing more will come into the buffer */

	char *buffer; /* capacity + 1 bytes, for the NUL after a last line */
	size_t capacity, start, end;

	LodeCompressedStream *stream;
};

LodeTextLines *lode_text_lines_new(int fd, const char *path, uint64_t limit_bytes,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeTextLines) self = g_new0(LodeTextLines, 1);
	g_autofree char *base = g_path_get_basename(path);
	struct stat status;

	self->path = g_strdup(path);
	self->stage = g_strconcat("reading ", base, NULL);
	self->progress = progress;
	self->limit_bytes = limit_bytes != 0 ? limit_bytes : lode_memory_budget_available();
	self->capacity = BLOCK_SIZE;
	self->fd = fd;
	if (fstat(self->fd, &status) != 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, g_strerror(errno));
		return NULL;
	}
	self->size_bytes = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
	self->buffer = g_malloc(self->capacity + 1);
	/* A quarter of the memory is for the decompressor. */
	self->stream = lode_compressed_stream_open(self->fd, path,
		MIN(lode_memory_budget_available() / 4, LODE_STREAM_MAX_MEMORY), error);
	return self->stream != NULL ? g_steal_pointer(&self) : NULL;
}

LodeTextLines *lode_text_lines_open(
	const char *path, uint64_t limit_bytes, const LodeProgress *progress, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", path, g_strerror(errno));
		return NULL;
	}
	return lode_text_lines_new(fd, path, limit_bytes, progress, error);
}

void lode_text_lines_close(LodeTextLines *self)
{
	if (self == NULL)
		return;
	if (self->fd >= 0)
		close(self->fd);
	lode_compressed_stream_close(self->stream);
	g_free(self->buffer);
	g_free(self->stage);
	g_free(self->path);
	g_free(self);
}

/* Reports at most ten times a second. False when the user cancelled. */
static bool report_progress(LodeTextLines *self, GError **error)
{
	gint64 now = g_get_monotonic_time();

	if (lode_progress_is_cancelled(self->progress)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "%s: stopped on request",
			self->path);
		return false;
	}
	if (self->progress == NULL || now - self->reported_us < REPORT_INTERVAL_US)
		return true;
	self->reported_us = now;
	lode_progress_report(self->progress, self->stage,
		(double)lode_compressed_stream_position(self->stream), (double)self->size_bytes,
		NULL);
	return true;
}

/* Appends to the buffer; sets is_at_end when there is no more. */
static bool fill_buffer(LodeTextLines *self, GError **error)
{
	ptrdiff_t n = lode_compressed_stream_read(
		self->stream, self->buffer + self->end, self->capacity - self->end, error);

	if (n < 0)
		return false;
	self->end += (size_t)n;
	self->is_at_end = n == 0;
	self->text_bytes += (uint64_t)n;
	if (lode_compressed_stream_command(self->stream) == NULL ||
		self->text_bytes <= self->limit_bytes)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"%s: decompresses to more than %" G_GUINT64_FORMAT
		" bytes, the memory that is available",
		self->path, self->limit_bytes);
	return false;
}

static bool set_length_error(const LodeTextLines *self, uint64_t number, GError **error)
{
	return lode_text_lines_error_at(self, number, error, LODE_ERROR_LIMIT, "longer than %d MiB",
		(int)(LODE_TEXT_LINES_MAX_LENGTH >> 20));
}

/* Makes room after the unread bytes. */
static bool make_room(LodeTextLines *self, GError **error)
{
	size_t unread = self->end - self->start;

	memmove(self->buffer, self->buffer + self->start, unread);
	self->start = 0;
	self->end = unread;
	if (unread <= self->capacity / 2)
		return true;
	if (unread > LODE_TEXT_LINES_MAX_LENGTH)
		return set_length_error(self, self->number + 1, error);
	char *grown = g_try_realloc(self->buffer, 2 * self->capacity + 1);
	if (grown == NULL)
		return lode_text_lines_error_at(self, self->number + 1, error, LODE_ERROR_LIMIT,
			"not enough memory for a line of more than %" G_GSIZE_FORMAT " bytes",
			unread);
	self->buffer = grown;
	self->capacity *= 2;
	return true;
}

static bool fill(LodeTextLines *self, GError **error)
{
	if (!report_progress(self, error) || !make_room(self, error))
		return false;
	return fill_buffer(self, error);
}

int lode_text_lines_next(
	LodeTextLines *self, const char **out_line, size_t *out_length, GError **error)
{
	size_t seen = 0; /* unread bytes known to hold no line feed */
	char *feed = NULL;

	while (true) {
		size_t unread = self->end - self->start;
		if (unread > seen)
			feed = memchr(self->buffer + self->start + seen, '\n', unread - seen);
		if (feed != NULL || self->is_at_end)
			break;
		seen = unread;
		if (!fill(self, error))
			return -1;
	}
	char *line = self->buffer + self->start;
	char *end = feed != NULL ? feed : self->buffer + self->end;
	if (feed == NULL && line == end)
		return 0;
	self->start = (size_t)(end - self->buffer) + (feed != NULL);
	self->is_terminated = feed != NULL;
	self->number++;
	if (feed != NULL && end > line && end[-1] == '\r')
		end--;
	if ((size_t)(end - line) > LODE_TEXT_LINES_MAX_LENGTH) {
		set_length_error(self, self->number, error);
		return -1;
	}
	*end = '\0';
	*out_line = line;
	*out_length = (size_t)(end - line);
	return 1;
}

uint64_t lode_text_lines_number(const LodeTextLines *self)
{
	return self->number;
}

bool lode_text_lines_is_terminated(const LodeTextLines *self)
{
	return self->is_terminated;
}

bool lode_text_lines_error_at(const LodeTextLines *self, uint64_t number, GError **error, int code,
	const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error(error, LODE_ERROR, code, "%s: line %" G_GUINT64_FORMAT ": %s", self->path,
		number, message);
	return false;
}
