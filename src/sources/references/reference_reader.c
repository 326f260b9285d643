/* SPDX-License-Identifier: MIT */
/*
 * Bytes of any form in, references out:
 *
 *   descriptor ──decompressor──▶ buffer ──scan of the form──▶ references
 *                                                └──▶ held until sizes are known ──▶ references
 */
#include "sources/references/reference_form.h"

#include "base/arrays/hash.h"
#include "base/error.h"
#include "base/files/compressed_stream.h"
#include "base/files/stream_decoder.h"
#include "traces/reference.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- sizes of instructions --- */

/*
 * Sizes of instructions for forms of traces that have none, so that runs of code are found again.
 * They are derived from the next fetch.
 *
 *   fetch 400510   load …   fetch 400513   →  the first one has 3 bytes
 *
 * A difference of 1 … 15 bytes is the size. After a jump, and where the next fetch is farther away
 * than once before (a jump over the next instructions), the size is the least difference seen at
 * this address. 0: unknown.
 */

enum {
	HELD_ROOM = 4096,
	MAX_HELD = 4096, /* after a fetch, until it is settled without the next one */
	MAX_SIZE = 15,
	TABLE_BITS = 16, /* of places; addresses that share one forget each other */
};

typedef struct {
	uint64_t address;
	uint32_t size; /* 0: nothing here */
} KnownSize;

typedef struct {
	size_t n, taken;
	size_t settled; /* up to here sizes are known */
	bool is_open;   /* the reference at `settled` is a fetch whose size is not */
	LodeReference held[HELD_ROOM + MAX_HELD];
	KnownSize table[1 << TABLE_BITS];
} FetchSizes;

static void fetch_sizes_free(FetchSizes *self)
{
	g_free(self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FetchSizes, fetch_sizes_free)

static KnownSize *place_of(FetchSizes *self, uint64_t address)
{
	return &self->table[lode_hash_slot(address, TABLE_BITS)];
}

/* `distance` to the next fetch; 0: not known. */
static void settle(FetchSizes *self, uint64_t distance)
{
	LodeReference *fetch = &self->held[self->settled];
	KnownSize *known = place_of(self, fetch->address);
	uint32_t size = known->address == fetch->address ? known->size : 0;

	if (distance >= 1 && distance <= MAX_SIZE && (size == 0 || distance < size)) {
		size = (uint32_t)distance;
		*known = (KnownSize){fetch->address, size};
	}
	fetch->size = size;
	self->is_open = false;
}

/* Where further references go, without sizes of fetches; *out_room ≥ 4096. Only when nothing can be
 * taken. */
static LodeReference *fetch_sizes_room(FetchSizes *self, size_t *out_room)
{
	size_t left = self->n - self->taken;

	memmove(self->held, self->held + self->taken, left * sizeof(*self->held));
	self->settled -= self->taken;
	self->n = left;
	self->taken = 0;
	*out_room = G_N_ELEMENTS(self->held) - self->n;
	return self->held + self->n;
}

/* `n` references were put there; with `is_end` none will come any more. */
static void fetch_sizes_added(FetchSizes *self, size_t n, bool is_end)
{
	for (size_t i = self->n; i < self->n + n; i++) {
		/* Here, and not by how many came at once: that is up to who writes a pipe. */
		if (self->is_open && i - self->settled >= MAX_HELD)
			settle(self, 0);
		if (self->held[i].kind != LODE_REFERENCE_FETCH)
			continue;
		if (self->is_open)
			settle(self, self->held[i].address - self->held[self->settled].address);
		self->settled = i;
		self->is_open = true;
	}
	self->n += n;
	if (self->is_open && is_end)
		settle(self, 0);
	if (!self->is_open)
		self->settled = self->n;
}

/* Up to `room` references whose sizes are settled: how many. */
static size_t fetch_sizes_take(FetchSizes *self, LodeReference *out, size_t room)
{
	size_t n = MIN(room, self->settled - self->taken);

	memcpy(out, self->held + self->taken, n * sizeof(*out));
	self->taken += n;
	return n;
}

/* --- the reader --- */

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
	FetchSizes *sizes; /* NULL: the form has them */
	char *buffer;
	size_t capacity; /* of the buffer, without the slack after it */
	LodeReferenceScan scan;
	GError *failure; /* reported after the references before it */
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
	char *rest = self->buffer + left;
	size_t n_rest = self->capacity - left;
	ptrdiff_t n = lode_compressed_stream_read(self->stream, rest, n_rest, error);
	if (n < 0)
		return false;
	scan->end += n;
	scan->is_last = n == 0;
	memset(self->buffer + left + n, 0, LODE_REFERENCE_SLACK);
	return true;
}

/* At least so many bytes, if there are as many. */
static bool fill_up(LodeReferenceReader *self, size_t size, GError **error)
{
	const LodeReferenceScan *scan = &self->scan;

	while (!scan->is_last && (size_t)(scan->end - scan->at) < size)
		if (!fill(self, error))
			return false;
	return true;
}

static bool detect(LodeReferenceReader *self, GError **error)
{
	const LodeReferenceScan *scan = &self->scan;

	if (!fill_up(self, DETECTED_SIZE, error))
		return false;
	self->form = LODE_REFERENCE_FORM_LACKEY;
	if (scan->at == scan->end)
		return true;
	for (int i = 0; i < LODE_N_REFERENCE_FORMS; i++) {
		const LodeReferenceFormRow *row = lode_reference_form_row((LodeReferenceForm)i);
		self->form = (LodeReferenceForm)i;
		/* Text need not be waited for. */
		bool is_binary = memchr(scan->at, '\0', (size_t)(scan->end - scan->at)) != NULL;
		if (is_binary && !fill_up(self, row->n_checked, error))
			return false;
		if (row->is_form(scan->at, (size_t)(scan->end - scan->at)))
			return true;
	}
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"%s: its first bytes are of no known form of address traces "
		"(" LODE_REFERENCE_FORM_WORDS ", plain or compressed by gzip, xz, zstd or bzip2)",
		self->name);
	return false;
}

LodeReferenceReader *lode_reference_reader_open(
	int descriptor, const char *name, int form, GError **error)
{
	g_autoptr(LodeReferenceReader) self = g_new0(LodeReferenceReader, 1);

	self->name = g_strdup(name);
	self->stream = lode_compressed_stream_open(descriptor, name, LODE_STREAM_MAX_MEMORY, error);
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
		self->sizes = g_new0(FetchSizes, 1);
	return g_steal_pointer(&self);
}

void lode_reference_reader_close(LodeReferenceReader *self)
{
	if (self == NULL)
		return;
	lode_compressed_stream_close(self->stream);
	fetch_sizes_free(self->sizes);
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
	return lode_compressed_stream_position(self->stream);
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

	while ((n = fetch_sizes_take(self->sizes, out, room)) == 0) {
		LodeReference *held = fetch_sizes_room(self->sizes, &held_room);
		size_t added = scan_some(self, held, held_room);
		fetch_sizes_added(self->sizes, added, added == 0);
		if (added == 0)
			return fetch_sizes_take(self->sizes, out, room);
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
