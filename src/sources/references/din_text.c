/* SPDX-License-Identifier: MIT */
/*
 * The text forms of the Dinero simulators, a reference a line; what follows on it is a remark:
 *
 *   din (III, and IV with -informat d)     xdin (IV with -informat D)
 *   2 401ab70                              i 401ab70 3
 *   1 1fff000718                           w 1fff000718 8
 *
 * Labels are 0 or r, read; 1 or w, write; 2 or i, fetch of an instruction. Others are not
 * references and passed over: 3 or m, of unknown kind; 4 or c, copy back; 5 or v, invalidate. All
 * numbers are hexadecimal, with 0x in front or not.
 */
#include "sources/references/reference_form.h"

#include <string.h>

typedef struct {
	const char *at, *end; /* the unread part of the line */
	const char *line;     /* for messages */
	size_t length;
} DinLine;

enum { SKIPPED = LODE_N_REFERENCE_KINDS, UNKNOWN };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(DinLine *line)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
}

static bool is_at_word_end(const DinLine *line)
{
	return line->at == line->end || is_blank(*line->at);
}

static bool take_hex(DinLine *line, uint64_t max, uint64_t *out)
{
	skip_blanks(line);
	if (line->end - line->at > 2 && line->at[0] == '0' && (line->at[1] | ' ') == 'x')
		line->at += 2;
	return lode_reference_hex(&line->at, line->end, max, out) && is_at_word_end(line);
}

static int kind_of_letter(char letter)
{
	static const char letters[] = "rwimcv";
	static const int kinds[] = {LODE_REFERENCE_LOAD, LODE_REFERENCE_STORE, LODE_REFERENCE_FETCH,
		SKIPPED, SKIPPED, SKIPPED};
	const char *found = letter != '\0' ? strchr(letters, g_ascii_tolower(letter)) : NULL;

	return found != NULL ? kinds[found - letters] : UNKNOWN;
}

static int take_label(DinLine *line)
{
	static const char letters[] = "rwimcv";
	uint64_t label;
	int kind;

	if (line->at < line->end && (kind = kind_of_letter(*line->at)) != UNKNOWN) {
		line->at++;
		return is_at_word_end(line) ? kind : UNKNOWN;
	}
	if (!take_hex(line, sizeof(letters) - 2, &label))
		return UNKNOWN;
	return kind_of_letter(letters[label]);
}

static bool take_line(LodeReferenceScan *self, DinLine *line, bool has_size, GError **error)
{
	uint64_t address, size = 0;
	int kind = take_label(line);

	if (kind == UNKNOWN)
		return lode_reference_scan_fail(
			self, line->line, line->length, error, "unknown label");
	if (!take_hex(line, UINT64_MAX, &address))
		return lode_reference_scan_fail(
			self, line->line, line->length, error, "no address");
	if (has_size && !take_hex(line, UINT32_MAX, &size))
		return lode_reference_scan_fail(self, line->line, line->length, error, "no size");
	skip_blanks(line);
	self->n_remarks += line->at < line->end;
	if (kind == SKIPPED)
		self->n_skipped++;
	else
		lode_reference_scan_add(self, (LodeReferenceKind)kind, address, (uint32_t)size);
	return true;
}

static bool scan_lines(LodeReferenceScan *self, bool has_size, GError **error)
{
	DinLine line;

	while (self->n < self->room && lode_reference_scan_line(self, &line.line, &line.length)) {
		line.at = line.line;
		line.end = line.line + line.length;
		skip_blanks(&line);
		if (line.at < line.end && !take_line(self, &line, has_size, error))
			return false;
	}
	return true;
}

static bool scan_din(LodeReferenceScan *self, GError **error)
{
	return scan_lines(self, false, error);
}

static bool scan_xdin(LodeReferenceScan *self, GError **error)
{
	return scan_lines(self, true, error);
}

/* Whether the first line begins with a label, then an address. */
static bool has_label(const char *data, size_t size, bool is_letter)
{
	DinLine line = {.at = data, .end = data + size};
	const char *feed = memchr(data, '\n', size);
	uint64_t address;

	if (feed != NULL)
		line.end = feed > data && feed[-1] == '\r' ? feed - 1 : feed;
	skip_blanks(&line);
	return line.at < line.end && (bool)g_ascii_isalpha(*line.at) == is_letter &&
	       take_label(&line) != UNKNOWN && take_hex(&line, UINT64_MAX, &address);
}

static bool is_din(const char *data, size_t size)
{
	return has_label(data, size, false);
}

static bool is_xdin(const char *data, size_t size)
{
	return has_label(data, size, true);
}

static char *losses_with(const LodeReferenceScan *self, const char *hint)
{
	GString *text = g_string_new(NULL);

	if (self->n_skipped > 0)
		g_string_append_printf(text,
			"lines with other labels than read, write and fetch (%" G_GUINT64_FORMAT
			")",
			self->n_skipped);
	if (self->n_remarks > 0)
		g_string_append_printf(text, "%swhat follows on lines (%" G_GUINT64_FORMAT "%s)",
			text->len > 0 ? ", " : "", self->n_remarks, hint);
	return g_string_free(text, text->len == 0);
}

/* Sizes after the addresses are remarks in this form. */
static char *din_losses(const LodeReferenceScan *self)
{
	return losses_with(self, "; sizes are read with --form xdin");
}

static char *xdin_losses(const LodeReferenceScan *self)
{
	return losses_with(self, "");
}

static bool write_line(LodeReferenceWriter *self, const char *labels,
	const LodeReference *reference, GError **error)
{
	char *first = lode_reference_writer_room(self, error), *at = first;

	if (at == NULL)
		return false;
	*at++ = labels[reference->kind];
	*at++ = ' ';
	at = lode_reference_put_hex(at, reference->address, 1);
	if (!self->form->lacks_sizes) {
		*at++ = ' ';
		at = lode_reference_put_hex(at, reference->size, 1);
	}
	*at++ = '\n';
	self->used += (size_t)(at - first);
	return true;
}

/* `labels` are those of fetch, load and store. */
static bool write_reference(LodeReferenceWriter *self, const char *labels,
	const LodeReference *reference, GError **error)
{
	LodeReference half = *reference;

	if (reference->kind != LODE_REFERENCE_MODIFY)
		return write_line(self, labels, reference, error);
	half.kind = LODE_REFERENCE_LOAD;
	if (!write_line(self, labels, &half, error))
		return false;
	half.kind = LODE_REFERENCE_STORE;
	return write_line(self, labels, &half, error);
}

static bool write_din(LodeReferenceWriter *self, const LodeReference *reference, GError **error)
{
	return write_reference(self, "201", reference, error);
}

static bool write_xdin(LodeReferenceWriter *self, const LodeReference *reference, GError **error)
{
	return write_reference(self, "irw", reference, error);
}

const LodeReferenceFormRow lode_din_text = {
	.name = "din",
	.is_form = is_din,
	.scan = scan_din,
	.losses = din_losses,
	.write = write_din,
	.lacks_sizes = true,
	.lacks_threads = true,
	.splits_modifies = true,
};

const LodeReferenceFormRow lode_xdin_text = {
	.name = "xdin",
	.is_form = is_xdin,
	.scan = scan_xdin,
	.losses = xdin_losses,
	.write = write_xdin,
	.lacks_threads = true,
	.splits_modifies = true,
};
