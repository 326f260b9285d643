/* SPDX-License-Identifier: MIT */
/*
 * Comma-separated values, with or without the last column:
 *
 *   kind,address,size,thread
 *   fetch,0x401ab70,3,0
 *   store,137422178072,8,0
 *
 * Numbers are decimal, or hexadecimal after 0x. A cell may stand in quotes.
 */
#include "sources/references/reference_form.h"

#include <string.h>

static const char header[] = "kind,address,size", thread_header[] = "kind,address,size,thread";

enum { MIN_CELLS = 3, MAX_CELLS = 4, KIND_LENGTH = 5 };

typedef struct {
	const char *text;
	size_t length;
} Cell;

static Cell unquoted(const char *text, size_t length)
{
	if (length >= 2 && text[0] == '"' && text[length - 1] == '"')
		return (Cell){text + 1, length - 2};
	return (Cell){text, length};
}

/* Gives how many there are, at most one more than MAX_CELLS. */
static unsigned split(const char *line, size_t length, Cell cells[MAX_CELLS])
{
	const char *at = line, *end = line + length, *comma;
	unsigned n = 0;

	do {
		comma = memchr(at, ',', (size_t)(end - at));
		if (n < MAX_CELLS)
			cells[n] = unquoted(at, (size_t)((comma != NULL ? comma : end) - at));
		at = comma != NULL ? comma + 1 : end;
		n++;
	} while (comma != NULL && n <= MAX_CELLS);
	return n;
}

static bool is_text(Cell cell, const char *text)
{
	return cell.length == strlen(text) && memcmp(cell.text, text, cell.length) == 0;
}

static bool is_number(Cell cell, uint64_t max, uint64_t *out)
{
	const char *at = cell.text, *end = cell.text + cell.length;

	if (cell.length > 2 && at[0] == '0' && (at[1] | ' ') == 'x') {
		at += 2;
		return lode_reference_hex(&at, end, max, out) && at == end;
	}
	return lode_reference_decimal(&at, end, max, out) && at == end;
}

static bool take_header(LodeReferenceScan *self, const char *line, size_t length, GError **error)
{
	Cell cells[MAX_CELLS];
	unsigned n = split(line, length, cells);

	self->has_header = true;
	self->has_threads = n == MAX_CELLS;
	if (n >= MIN_CELLS && n <= MAX_CELLS && is_text(cells[0], "kind") &&
		is_text(cells[1], "address") && is_text(cells[2], "size") &&
		(n == MIN_CELLS || is_text(cells[3], "thread")))
		return true;
	return lode_reference_scan_fail(self, line, length, error,
		"the header must be kind,address,size or kind,address,size,thread");
}

static int kind_of(Cell cell)
{
	for (int i = 0; i < LODE_N_REFERENCE_KINDS; i++)
		if (is_text(cell, lode_reference_kind_names[i]))
			return i;
	return -1;
}

static bool take_row(LodeReferenceScan *self, const char *line, size_t length, GError **error)
{
	Cell cells[MAX_CELLS];
	unsigned expected = self->has_threads ? MAX_CELLS : MIN_CELLS;
	uint64_t address, size, thread = 0;
	const char *fault = NULL;
	int kind = -1;

	if (split(line, length, cells) != expected)
		fault = self->has_threads ? "four cells were expected"
		                          : "three cells were expected";
	else if ((kind = kind_of(cells[0])) < 0)
		fault = "the kind must be fetch, load, store or modify";
	else if (!is_number(cells[1], UINT64_MAX, &address))
		fault = "the address is not a number of 64 bits";
	else if (!is_number(cells[2], UINT32_MAX, &size))
		fault = "the size is not a number of 32 bits";
	else if (self->has_threads && !is_number(cells[3], LODE_MAX_TRACE_THREADS - 1, &thread))
		fault = "the thread is not a number up to 65534";
	if (fault != NULL)
		return lode_reference_scan_fail(self, line, length, error, fault);
	self->thread = (uint16_t)thread;
	lode_reference_scan_add(self, (LodeReferenceKind)kind, address, (uint32_t)size);
	return true;
}

static bool scan(LodeReferenceScan *self, GError **error)
{
	const char *line;
	size_t length;

	while (self->n < self->room && lode_reference_scan_line(self, &line, &length)) {
		if (length == 0)
			continue;
		if (self->has_header ? !take_row(self, line, length, error)
				     : !take_header(self, line, length, error))
			return false;
	}
	return true;
}

static bool is_form(const char *data, size_t size)
{
	return (size >= KIND_LENGTH && memcmp(data, header, KIND_LENGTH) == 0) ||
	       (size > KIND_LENGTH && data[0] == '"' &&
		       memcmp(data + 1, "kind\"", KIND_LENGTH) == 0);
}

static char *put_text(char *at, const char *text)
{
	size_t n = strlen(text);

	memcpy(at, text, n);
	at[n] = ',';
	return at + n + 1;
}

static bool put_header(LodeReferenceWriter *self, GError **error)
{
	char *at = self->has_header ? self->buffer : lode_reference_writer_room(self, error);

	if (at == NULL || self->has_header)
		return at != NULL;
	memcpy(at, thread_header, sizeof(thread_header) - 1);
	at[sizeof(thread_header) - 1] = '\n';
	self->used += sizeof(thread_header);
	self->has_header = true;
	return true;
}

static bool write_reference(
	LodeReferenceWriter *self, const LodeReference *reference, GError **error)
{
	char *first = put_header(self, error) ? lode_reference_writer_room(self, error) : NULL;
	char *at = first;

	if (at == NULL)
		return false;
	at = put_text(at, lode_reference_kind_names[reference->kind]);
	*at++ = '0';
	*at++ = 'x';
	at = lode_reference_put_hex(at, reference->address, 1);
	*at++ = ',';
	at = lode_reference_put_decimal(at, reference->size);
	*at++ = ',';
	at = lode_reference_put_decimal(at, reference->thread);
	*at++ = '\n';
	self->used += (size_t)(at - first);
	return true;
}

const LodeReferenceFormRow lode_reference_csv = {
	.name = "csv",
	.is_form = is_form,
	.scan = scan,
	.write = write_reference,
	.finish = put_header,
};
