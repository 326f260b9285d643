/* SPDX-License-Identifier: MIT */
#include "base/files/compressed_stream.h"

#include "base/error.h"
#include "base/files/stream_decoder.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { INPUT_SIZE = 1 << 16 };

struct LodeCompressedStream {
	int descriptor;
	char *name;
	uint64_t read_bytes, max_memory;
	const LodeStreamDecoder *decoder; /* NULL: plain */
	void *state;                      /* of the decoder */
	uint8_t *input;
	size_t start, end;   /* of the unread part of `input` */
	bool is_at_end;      /* nothing comes after `input` */
	bool is_member_open; /* the input must not end here */
};

/* As read(2), but waits where the descriptor would not, and goes on after signals. */
static ssize_t read_waiting(int descriptor, void *out, size_t size)
{
	struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
	ssize_t n;

	while ((n = read(descriptor, out, size)) < 0) {
		if (errno == EAGAIN)
			poll(&wanted, 1, -1);
		else if (errno != EINTR)
			return n;
	}
	return n;
}

static ptrdiff_t read_bytes(LodeCompressedStream *self, void *out, size_t size, GError **error)
{
	ssize_t n = read_waiting(self->descriptor, out, size);

	if (n < 0)
		g_set_error(
			error, LODE_ERROR, LODE_ERROR_IO, "%s: %s", self->name, g_strerror(errno));
	else
		self->read_bytes += (uint64_t)n;
	return n;
}

/* Appends the available bytes. */
static bool fill(LodeCompressedStream *self, GError **error)
{
	if (self->start == self->end)
		self->start = self->end = 0;
	ptrdiff_t n = read_bytes(self, self->input + self->end, INPUT_SIZE - self->end, error);
	if (n < 0)
		return false;
	self->end += (size_t)n;
	self->is_at_end = n == 0;
	return true;
}

LodeCompressedStream *lode_compressed_stream_open(
	int descriptor, const char *name, uint64_t max_memory, GError **error)
{
	g_autoptr(LodeCompressedStream) self = g_new0(LodeCompressedStream, 1);

	self->descriptor = descriptor;
	self->name = g_strdup(name);
	self->max_memory = max_memory;
	self->input = g_malloc(INPUT_SIZE);
	while (self->end < LODE_STREAM_MAGIC_SIZE && !self->is_at_end)
		if (!fill(self, error))
			return NULL;
	self->decoder = lode_stream_decoder_find(self->input, self->end);
	if (self->decoder == NULL)
		return g_steal_pointer(&self);
	self->state = self->decoder->open(max_memory);
	if (self->state != NULL)
		return g_steal_pointer(&self);
	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT, "%s: not enough memory to decompress it",
		name);
	return NULL;
}

void lode_compressed_stream_close(LodeCompressedStream *self)
{
	if (self == NULL)
		return;
	if (self->state != NULL)
		self->decoder->close(self->state);
	g_free(self->input);
	g_free(self->name);
	g_free(self);
}

static ptrdiff_t read_plain(LodeCompressedStream *self, void *out, size_t size, GError **error)
{
	size_t n = MIN(size, self->end - self->start);

	if (n == 0)
		return self->is_at_end ? 0 : read_bytes(self, out, size, error);
	memcpy(out, self->input + self->start, n);
	self->start += n;
	return (ptrdiff_t)n;
}

static ptrdiff_t fail(const LodeCompressedStream *self, LodeStreamOutcome outcome, const char *why,
	GError **error)
{
	uint64_t offset = self->read_bytes - (self->end - self->start);

	if (outcome == LODE_STREAM_TOO_LARGE)
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%s: offset %" G_GUINT64_FORMAT ": decompressing needs more than "
			"%" G_GUINT64_FORMAT " KiB of memory; decompress it first with '%s'",
			self->name, offset, self->max_memory >> 10, self->decoder->command);
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
			"%s: offset %" G_GUINT64_FORMAT ": %s data: %s", self->name, offset,
			self->decoder->name, why);
	return -1;
}

/* One step; gives what it made, or −1. Sets *out_is_stuck where it neither took nor made any. */
static ptrdiff_t decode(
	LodeCompressedStream *self, void *out, size_t size, bool *out_is_stuck, GError **error)
{
	const char *why = "broken data";
	size_t n_in = self->end - self->start;
	LodeStreamStep step = {
		.in = self->input + self->start,
		.in_size = n_in,
		.out = out,
		.out_size = size,
		.is_last_input = self->is_at_end,
	};
	LodeStreamOutcome outcome = self->decoder->step(self->state, &step, &why);

	self->start = self->end - step.in_size;
	if (outcome == LODE_STREAM_BROKEN || outcome == LODE_STREAM_TOO_LARGE)
		return fail(self, outcome, why, error);
	self->is_member_open = outcome != LODE_STREAM_BETWEEN_MEMBERS;
	*out_is_stuck = step.in_size == n_in && step.out_size == size;
	return (ptrdiff_t)(size - step.out_size);
}

static ptrdiff_t read_compressed(LodeCompressedStream *self, void *out, size_t size, GError **error)
{
	bool is_stuck = false;
	ptrdiff_t n = 0;

	while (n == 0) {
		if (self->start == self->end && !self->is_at_end && !fill(self, error))
			return -1;
		if (self->start == self->end && self->is_at_end && !self->is_member_open)
			return 0;
		if (is_stuck && (self->is_at_end || self->start != self->end))
			return fail(self, LODE_STREAM_BROKEN, "ends early", error);
		n = decode(self, out, size, &is_stuck, error);
	}
	return n;
}

ptrdiff_t lode_compressed_stream_read(
	LodeCompressedStream *self, void *out, size_t size, GError **error)
{
	return self->decoder != NULL ? read_compressed(self, out, size, error)
	                             : read_plain(self, out, size, error);
}

uint64_t lode_compressed_stream_position(const LodeCompressedStream *self)
{
	return self->read_bytes;
}

const char *lode_compressed_stream_command(const LodeCompressedStream *self)
{
	return self->decoder != NULL ? self->decoder->command : NULL;
}
