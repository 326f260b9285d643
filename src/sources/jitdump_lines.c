/* SPDX-License-Identifier: MIT */
/*
 * Source lines, which stand in a record before the code that they belong to:
 *
 *   [address of the code, n] n × [address, line, discriminator, file NUL]
 *
 * V8 (seen in version 11.3, of Node 20) does three things of its own. It counts addresses from 64
 * bytes before the code, where perf's ELF header will stand. It writes a file's name after it has
 * freed it, so that the first 16 bytes may be whatever malloc() keeps there, NULs among them. And
 * it names the file also in the name of the function: `JS:*name FILE:LINE:COLUMN`.
 */
#include "sources/jitdump_records.h"

enum {
	ELF_HEADER_SIZE = 64,
	FREED_SIZE = 16, /* what malloc() writes into memory that was freed */
};

/* Text of the file as valid UTF-8, kept once. */
const char *lode_jitdump_keep_text(LodeJitdump *self, const char *text)
{
	g_autofree char *valid = NULL;

	if (g_utf8_validate(text, -1, NULL))
		return g_string_chunk_insert_const(self->strings, text);
	valid = g_utf8_make_valid(text, -1);
	return g_string_chunk_insert_const(self->strings, valid);
}

static bool is_of_v8(const LodeJitUnit *unit)
{
	return g_str_has_prefix(unit->name, "JS:");
}

/* What is to be taken off the addresses of these lines. */
static uint64_t line_bias(const LodeJitUnit *unit, GArray *lines, guint first)
{
	if (!is_of_v8(unit))
		return 0;
	for (guint i = first; i < lines->len; i++)
		if (g_array_index(lines, LodeJitLine, i).address < ELF_HEADER_SIZE)
			return 0;
	return ELF_HEADER_SIZE;
}

static int compare_lines(const void *a, const void *b, void *data)
{
	const LodeJitLine *x = a, *y = b;

	(void)data;
	return (x->address > y->address) - (x->address < y->address);
}

/* Subtracts the bias, sorts, and keeps of equal addresses the last. False: one is outside. */
static bool settle_lines(LodeJitdump *self, LodeJitUnit *unit, guint first)
{
	uint64_t bias = line_bias(unit, self->lines, first);
	guint n = first;
	LodeJitLine *lines = (LodeJitLine *)(void *)self->lines->data;

	if (first == self->lines->len)
		return true;
	for (guint i = first; i < self->lines->len; i++) {
		lines[i].address -= bias;
		if (lines[i].address > unit->size)
			return false;
	}
	/* stable: of equal addresses the last one written stays last */
	g_qsort_with_data(lines + first, (gint)(self->lines->len - first), sizeof *lines,
		compare_lines, NULL);
	for (guint i = first; i < self->lines->len; i++) {
		if (lines[i].address == unit->size)
			continue; /* the end of the code, as the specification allows */
		if (n > first && lines[n - 1].address == lines[i].address)
			n--;
		lines[n++] = lines[i];
	}
	g_array_set_size(self->lines, n);
	unit->first_line = first;
	unit->n_lines = n - first;
	return true;
}

/* Whether an entry of this code may begin here, or the record end. */
static bool is_after_name(
	LodeByteCursor cursor, const LodeJitUnit *unit, uint64_t code_address, bool is_last)
{
	uint64_t address;

	if (is_last)
		return lode_byte_cursor_left(&cursor) < sizeof(uint64_t);
	address = lode_byte_cursor_u64(&cursor);
	return !cursor.is_overrun && address - code_address <= unit->size + ELF_HEADER_SIZE;
}

/*
 * Takes a name and its NUL; the length counts NULs inside, which a name has that was freed. NULL:
 * nothing follows that could be the next entry.
 */
static const char *take_name(LodeByteCursor *cursor, const LodeJitUnit *unit, uint64_t code_address,
	bool is_last, size_t *out_length)
{
	const char *name = lode_byte_cursor_text(cursor);
	LodeByteCursor further = *cursor;

	while (!further.is_overrun && !is_after_name(further, unit, code_address, is_last))
		lode_byte_cursor_text(&further);
	if (name == NULL || (further.is_overrun && !is_last))
		return NULL;
	if (!further.is_overrun)
		*cursor = further;
	*out_length = (size_t)((const char *)cursor->at - name) - 1;
	return name;
}

/* The file in the function's name, if it may be the damaged one; NULL: it is a different one. */
static const char *file_in_name(
	LodeJitdump *self, const LodeJitUnit *unit, const char *damaged, size_t length)
{
	const char *end = strrchr(unit->name, ':'), *file;
	size_t n_damaged = MIN(length, FREED_SIZE);
	g_autofree char *text = NULL;

	while (end != NULL && end > unit->name && *--end != ':')
		;
	if (!is_of_v8(unit) || end == NULL || (size_t)(end - unit->name) <= length)
		return NULL;
	file = end - length;
	if (file[-1] != ' ' ||
		memcmp(file + n_damaged, damaged + n_damaged, length - n_damaged) != 0)
		return NULL;
	text = g_strndup(file, length);
	return lode_jitdump_keep_text(self, text);
}

static const char *file_of(
	LodeJitdump *self, const LodeJitUnit *unit, const char *name, size_t length)
{
	bool is_text = memchr(name, '\0', length) == NULL;

	if (is_text && (!is_of_v8(unit) || g_utf8_validate(name, (gssize)length, NULL)))
		return lode_jitdump_keep_text(self, name);
	return file_in_name(self, unit, name, length);
}

/* The name that stands for the one before. */
static bool is_repeated(const char *name, size_t length)
{
	return length == 1 && (uint8_t)name[0] == 0xff;
}

/* Appends the entries of a record, relative to the code; false when they do not fit into it. */
static bool append_lines(
	LodeJitdump *self, LodeByteCursor *cursor, const LodeJitUnit *unit, uint64_t code_address)
{
	uint64_t n = lode_byte_cursor_u64(cursor);
	const char *file = NULL;

	for (uint64_t i = 0; i < n && !cursor->is_overrun; i++) {
		LodeJitLine line = {.address = lode_byte_cursor_u64(cursor) - code_address};
		line.line = lode_byte_cursor_u32(cursor);
		line.discriminator = lode_byte_cursor_u32(cursor);
		size_t length;
		const char *name = take_name(cursor, unit, code_address, i + 1 == n, &length);

		if (name == NULL || (i == 0 && is_repeated(name, length)))
			return false;
		if (!is_repeated(name, length))
			file = file_of(self, unit, name, length);
		line.file = file;
		if (file == NULL)
			line.line = 0;
		g_array_append_val(self->lines, line);
	}
	return !cursor->is_overrun;
}

void lode_jitdump_read_lines(
	LodeJitdump *self, LodeByteCursor cursor, LodeJitUnit *unit, uint64_t code_address)
{
	guint first = self->lines->len;

	if (lode_byte_cursor_u64(&cursor) != code_address ||
		!append_lines(self, &cursor, unit, code_address) ||
		!settle_lines(self, unit, first)) {
		g_array_set_size(self->lines, first);
		self->n_broken_lines++;
	}
}
