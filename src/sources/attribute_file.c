/* SPDX-License-Identifier: MIT */
#include "sources/attribute_file.h"

#include "base/error.h"
#include "machine/memory_budget.h"
#include "sources/text_lines.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_FIELDS = 4 };

typedef struct {
	LodeTextLines *lines;
	LodeAttributeFile *file;
	LodeMemoryBudget budget;
	GString *text;             /* the record's fields without quotes, a NUL after each */
	size_t fields[MAX_FIELDS]; /* where each starts in `text` */
	size_t n_fields;
} Reader;

static const char *const headers[] = {
	[LODE_ATTRIBUTE_FILE_PLACES] = "image,symbol,offset,attribute",
	[LODE_ATTRIBUTE_FILE_LINES] = "file,line,attribute",
};

void lode_attribute_file_free(LodeAttributeFile *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	g_string_chunk_free(self->strings);
	g_free(self);
}

static bool G_GNUC_PRINTF(3, 4) fail(Reader *self, GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	return lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines), error,
		LODE_ERROR_CORRUPT, "%s", message);
}

/* Adds a field that starts with a quote, up to the quote that ends it; two quotes inside stand for
 * one (RFC 4180). */
static const char *take_quoted(Reader *self, const char *at, GError **error)
{
	for (at++; *at != '\0'; at++) {
		if (*at == '"' && at[1] != '"')
			return at + 1;
		at += *at == '"';
		g_string_append_c(self->text, *at);
	}
	fail(self, error, "a quoted field does not end on its line, expected '\"'");
	return NULL;
}

static const char *take_plain(Reader *self, const char *at, GError **error)
{
	size_t length = strcspn(at, ",\"");

	if (at[length] == '"') {
		fail(self, error, "a quote inside a field, expected the whole field in quotes");
		return NULL;
	}
	g_string_append_len(self->text, at, (gssize)length);
	return at + length;
}

/* Splits a line, which must have `n` fields, into `text`. */
static bool split(Reader *self, const char *line, size_t n, GError **error)
{
	const char *header = headers[self->file->form];
	const char *at = line;

	g_string_truncate(self->text, 0);
	self->n_fields = 0;
	while (true) {
		if (self->n_fields == n)
			return fail(self, error, "a surplus field, expected '%s'", header);
		self->fields[self->n_fields++] = self->text->len;
		at = *at == '"' ? take_quoted(self, at, error) : take_plain(self, at, error);
		if (at == NULL)
			return false;
		g_string_append_c(self->text, '\0');
		if (*at == '\0')
			break;
		if (*at++ != ',')
			return fail(self, error, "text after a quoted field, expected ','");
	}
	return self->n_fields == n ||
	       fail(self, error, "a field is missing, expected '%s'", header);
}

static const char *field(const Reader *self, size_t index)
{
	return self->text->str + self->fields[index];
}

static bool has_control(const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (g_ascii_iscntrl(line[i]))
			return true;
	return false;
}

/* A whole number up to `limit`; `what` names it in the error. */
static bool read_number(
	Reader *self, const char *text, uint64_t limit, uint64_t *out_number, GError **error)
{
	bool is_hex = g_str_has_prefix(text, "0x") || g_str_has_prefix(text, "0X");

	if (is_hex ? g_ascii_string_to_unsigned(text + 2, 16, 0, limit, out_number, NULL)
		   : g_ascii_string_to_unsigned(text, 10, 0, limit, out_number, NULL))
		return true;
	g_autofree char *shown = g_utf8_make_valid(text, (gssize)strnlen(text, 40));
	return fail(self, error, "'%s' is not a whole number from 0 to %" G_GUINT64_FORMAT, shown,
		limit);
}

static bool require(Reader *self, const char *text, const char *what, GError **error)
{
	return text[0] != '\0' || fail(self, error, "%s is empty", what);
}

static char *keep(Reader *self, const char *text)
{
	return g_string_chunk_insert_const(self->file->strings, text);
}

/* Adds the row that the fields make up. */
static bool add_row(Reader *self, GError **error)
{
	LodeAttributeRow row = {.record_line = lode_text_lines_number(self->lines)};
	bool has_places = self->file->form == LODE_ATTRIBUTE_FILE_PLACES;
	const char *value = field(self, self->n_fields - 1);
	uint64_t line = 0;

	if (!require(self, field(self, 0), has_places ? "the image" : "the file", error) ||
		!require(self, value, "the attribute", error))
		return false;
	if (has_places && !read_number(self, field(self, 2), UINT64_MAX, &row.offset, error))
		return false;
	if (!has_places && !read_number(self, field(self, 1), UINT32_MAX - 1, &line, error))
		return false;
	if (!has_places && line == 0)
		return fail(self, error, "line 0, expected lines from 1");
	bool is_whole = g_str_has_prefix(value, "user:");
	g_autofree char *attribute = g_strconcat(is_whole ? "" : "user:", value, NULL);
	row.attribute = keep(self, attribute);
	row.line = (uint32_t)line;
	row.image = has_places ? keep(self, field(self, 0)) : NULL;
	row.symbol = has_places ? keep(self, field(self, 1)) : NULL;
	row.file = has_places ? NULL : keep(self, field(self, 0));
	g_array_append_val(self->file->rows, row);
	return true;
}

static bool read_record(Reader *self, const char *line, size_t length, GError **error)
{
	if (length == 0)
		return true;
	if (has_control(line, length))
		return fail(self, error, "a control character, expected none");
	if (!g_utf8_validate_len(line, length, NULL))
		return fail(self, error, "bytes that are not UTF-8, expected UTF-8");
	if (!lode_memory_budget_charge(&self->budget, 2 * sizeof(LodeAttributeRow) + 4 * length) ||
		self->file->rows->len == UINT32_MAX - 1)
		return lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines),
			error, LODE_ERROR_LIMIT, "more rows than the memory that is available");
	size_t n = self->file->form == LODE_ATTRIBUTE_FILE_PLACES ? 4 : 3;
	return split(self, line, n, error) && add_row(self, error);
}

static bool read_header(Reader *self, GError **error)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	const char *line = "";
	size_t length = 0;
	int found = lode_text_lines_next(self->lines, &line, &length, error);

	if (found < 0)
		return false;
	if (g_str_has_prefix(line, byte_order_mark))
		line += strlen(byte_order_mark);
	for (size_t form = 0; form < G_N_ELEMENTS(headers); form++) {
		self->file->form = (LodeAttributeFileForm)form;
		if (strcmp(line, headers[form]) == 0)
			return true;
	}
	return lode_text_lines_error_at(self->lines, 1, error, LODE_ERROR_CORRUPT,
		"expected the header '%s' or '%s'", headers[0], headers[1]);
}

static bool read_all(Reader *self, GError **error)
{
	const char *line;
	size_t length;
	int found;

	if (!read_header(self, error))
		return false;
	while ((found = lode_text_lines_next(self->lines, &line, &length, error)) > 0)
		if (!read_record(self, line, length, error))
			return false;
	return found == 0;
}

LodeAttributeFile *lode_attribute_file_read(
	const char *path, const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeTextLines) lines = lode_text_lines_open(path, 0, progress, error);

	if (lines == NULL)
		return NULL;
	g_autoptr(LodeAttributeFile) file = g_new0(LodeAttributeFile, 1);
	file->rows = g_array_new(FALSE, FALSE, sizeof(LodeAttributeRow));
	file->strings = g_string_chunk_new(1 << 12);
	g_autoptr(GString) text = g_string_new(NULL);
	Reader reader = {.lines = lines,
		.file = file,
		.text = text,
		.budget = {.limit_bytes = lode_memory_budget_available()}};
	return read_all(&reader, error) ? g_steal_pointer(&file) : NULL;
}
