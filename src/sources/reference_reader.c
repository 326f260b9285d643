/* SPDX-License-Identifier: MIT */
/*
 * Bytes of any form in, references out:
 *
 *   descriptor ──decompressor──▶ buffer ──scan of the form──▶ references
 *                                                └──▶ held until sizes are known ──▶ references
 */
#include "base/error.h"
#include "sources/compressed_stream.h"
#include "sources/fetch_sizes.h"
#include "sources/reference_form.h"

#include <string.h>

enum {
	BUFFER_SIZE = 1 << 17,
	MAX_LINE = 1 << 20, /* a longer line than the buffer makes that grow up to here */
	DETECTED_SIZE = 128,
	SHOWN_SIZE = 48, /* of a line in a message */
};

struct LodeReferenceReader {
	LodeReferenceForm form;
	const LodeReferenceFormRow *row;
	char *name;
	LodeCompressedStream *stream;
	LodeFetchSizes *sizes; /* NULL: the form has them */
	char *buffer;
	size_t capacity; /* of the buffer, without the slack after it */
	LodeReferenceScan scan;
	GError *failure; /* to be told when what stands in front of it was given */
};

bool lode_reference_scan_line(LodeReferenceScan *self, const char **out_line, size_t *out_length)
{
	size_t left = (size_t)(self->end - self->at);
	const char *feed = memchr(self->at, '\n', left);

	if (feed == NULL && (!self->is_last || left == 0))
		return false;
	const char *end = feed != NULL ? feed : self->end;
	*out_line = self->at;
	*out_length = (size_t)(end - self->at);
	if (*out_length > 0 && end[-1] == '\r')
		--*out_length;
	self->at = feed != NULL ? feed + 1 : self->end;
	self->line++;
	return true;
}

bool lode_reference_scan_fail(const LodeReferenceScan *self, const char *line, size_t length,
	GError **error, const char *message)
{
	g_autofree char *start = g_strndup(line, MIN(length, SHOWN_SIZE));
	g_autofree char *shown = g_strescape(start, NULL);

	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"%s: line %" G_GUINT64_FORMAT ": %s: '%s'%s", self->name, self->line - 1, message,
		shown, length > SHOWN_SIZE ? " …" : "");
	return false;
}

/* Makes room after what is unread, and drops all before it from the buffer. */
static bool make_room(LodeReferenceReader *self, GError **error)
{
	LodeReferenceScan *scan = &self->scan;
	size_t left = (size_t)(scan->end - scan->at);

	memmove(self->buffer, scan->at, left);
	if (left == MAX_LINE) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"%s: line %" G_GUINT64_FORMAT ": longer than %d bytes", self->name,
			scan->line, MAX_LINE);
	} else if (left == self->capacity) {
		self->capacity *= 2;
		self->buffer = g_realloc(self->buffer, self->capacity + LODE_REFERENCE_SLACK);
	}
	scan->at = self->buffer;
	scan->end = self->buffer + left;
	return left < self->capacity;
}

/* Reads what has come, to after what is unread. */
static bool fill(LodeReferenceReader *self, GError **error)
{
	LodeReferenceScan *scan = &self->scan;

	if (!make_room(self, error))
		return false;
	size_t left = (size_t)(scan->end - scan->at);
	ptrdiff_t n = lode_compressed_stream_read(
		self->stream, self->buffer + left, self->capacity - left, error);
	if (n < 0)
		return false;
	scan->end += n;
	scan->is_last = n == 0;
	memset(self->buffer + left + n, 0, LODE_REFERENCE_SLACK);
	return true;
}

static bool detect(LodeReferenceReader *self, GError **error)
{
	LodeReferenceScan *scan = &self->scan;

	while (!scan->is_last && scan->end - scan->at < DETECTED_SIZE)
		if (!fill(self, error))
			return false;
	self->form = LODE_REFERENCE_FORM_LACKEY;
	if (scan->at == scan->end)
		return true;
	for (int i = 0; i < LODE_N_REFERENCE_FORMS; i++) {
		self->form = (LodeReferenceForm)i;
		if (lode_reference_form_row(self->form)
				->is_form(scan->at, (size_t)(scan->end - scan->at)))
			return true;
	}
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"%s: its first bytes are of no known form of address traces "
		"(" LODE_REFERENCE_FORM_WORDS ", plain or compressed by gzip, xz or zstd)",
		self->name);
	return false;
}

LodeReferenceReader *lode_reference_reader_open(
	int descriptor, const char *name, int form, GError **error)
{
	g_autoptr(LodeReferenceReader) self = g_new0(LodeReferenceReader, 1);

	self->name = g_strdup(name);
	self->stream = lode_compressed_stream_open(descriptor, name, error);
	if (self->stream == NULL)
		return NULL;
	self->capacity = BUFFER_SIZE;
	self->buffer = g_malloc(self->capacity + LODE_REFERENCE_SLACK);
	memset(self->buffer, 0, LODE_REFERENCE_SLACK);
	self->scan = (LodeReferenceScan){
		.name = self->name,
		.at = self->buffer,
		.end = self->buffer,
		.line = 1,
	};
	self->form = (LodeReferenceForm)form;
	if (form < 0 && !detect(self, error))
		return NULL;
	self->row = lode_reference_form_row(self->form);
	if (self->row->lacks_sizes)
		self->sizes = lode_fetch_sizes_new();
	return g_steal_pointer(&self);
}

void lode_reference_reader_close(LodeReferenceReader *self)
{
	if (self == NULL)
		return;
	lode_compressed_stream_close(self->stream);
	lode_fetch_sizes_free(self->sizes);
	g_clear_error(&self->failure);
	g_free(self->scan.command);
	g_free(self->scan.version);
	g_free(self->buffer);
	g_free(self->name);
	g_free(self);
}

LodeReferenceForm lode_reference_reader_form(const LodeReferenceReader *self)
{
	return self->form;
}

uint64_t lode_reference_reader_bytes(const LodeReferenceReader *self)
{
	return lode_compressed_stream_bytes(self->stream);
}

/* Takes from the buffer until something came, the end or an error. Gives how many came. */
static size_t scan_some(LodeReferenceReader *self, LodeReference *out, size_t room)
{
	LodeReferenceScan *scan = &self->scan;

	scan->out = out;
	scan->n = 0;
	scan->room = room;
	while (self->failure == NULL) {
		if (!self->row->scan(scan, &self->failure) || scan->n > 0 || scan->is_last)
			break;
		fill(self, &self->failure);
	}
	return scan->n;
}

static size_t scan_sizes(LodeReferenceReader *self, LodeReference *out, size_t room)
{
	size_t held_room, n;

	while ((n = lode_fetch_sizes_take(self->sizes, out, room)) == 0) {
		LodeReference *held = lode_fetch_sizes_room(self->sizes, &held_room);
		size_t added = scan_some(self, held, held_room);
		lode_fetch_sizes_added(self->sizes, added, added == 0);
		if (added == 0)
			return lode_fetch_sizes_take(self->sizes, out, room);
	}
	return n;
}

ptrdiff_t lode_reference_reader_next(
	LodeReferenceReader *self, LodeReference *out, size_t room, GError **error)
{
	size_t n = self->sizes != NULL ? scan_sizes(self, out, room) : scan_some(self, out, room);

	if (n > 0 || self->failure == NULL)
		return (ptrdiff_t)n;
	g_propagate_error(error, g_error_copy(self->failure));
	return -1;
}

void lode_reference_reader_describe(
	const LodeReferenceReader *self, LodeTraceDescription *description)
{
	const LodeReferenceScan *scan = &self->scan;
	g_autofree char *tool = scan->version != NULL
	                                ? g_strconcat(self->row->name, " ", scan->version, NULL)
	                                : g_strdup(self->row->name);

	description->tool = lode_trace_description_intern(description, tool);
	description->command = lode_trace_description_intern(description, scan->command);
	if (scan->n_instructions > 0) {
		LodeTraceTotal total = {
			lode_trace_description_intern(description, "instructions"),
			scan->n_instructions,
		};
		g_array_append_val(description->totals, total);
	}
}

char *lode_reference_reader_losses(const LodeReferenceReader *self)
{
	return self->row->losses != NULL ? self->row->losses(&self->scan) : NULL;
}
