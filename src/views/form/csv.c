/* SPDX-License-Identifier: MIT */
/* Comma-separated rows by RFC 4180. */
#include "views/form/csv.h"

#include "base/text/number_format.h"
#include "views/form/display_text.h"

#include <math.h>
#include <string.h>

void lode_csv_init(LodeCsv *self, FILE *out)
{
	*self = (LodeCsv){.out = out};
}

static void separate(LodeCsv *self)
{
	if (self->has_cell)
		fputc(',', self->out);
	self->has_cell = true;
}

/* A number in a text's place, such as -0.5; hexadecimal ones and words like "-inf" are not. */
static bool is_number(const char *text)
{
	char *end = NULL;

	if (strspn(text, "+-.0123456789eE") != strlen(text))
		return false;
	g_ascii_strtod(text, &end);
	return end != text && *end == '\0';
}

/*
 * Whether a spreadsheet would compute the text instead of showing it: OWASP's list under "CSV
 * Injection", with the full-width signs that some spreadsheets treat alike.
 */
static bool is_formula(const char *text)
{
	static const char *const wide_signs[] = {"＝", "＋", "－", "＠"};

	for (size_t i = 0; i < G_N_ELEMENTS(wide_signs); i++)
		if (g_str_has_prefix(text, wide_signs[i]))
			return true;
	return *text != '\0' && strchr("=+-@\t\r\n", *text) != NULL && !is_number(text);
}

void lode_csv_text(LodeCsv *self, const char *value)
{
	separate(self);
	if (value == NULL)
		return;
	g_autoptr(GString) cell = g_string_new(is_formula(value) ? "'" : NULL);
	while (*value != '\0') {
		size_t n = strcspn(value, "\n\t");
		lode_display_append_whole(cell, value, n);
		value += n;
		if (*value != '\0')
			g_string_append_c(cell, *value++);
	}
	bool is_quoted = strpbrk(cell->str, ",\"\n") != NULL;
	if (is_quoted) {
		g_string_replace(cell, "\"", "\"\"", 0);
		g_string_prepend_c(cell, '"');
		g_string_append_c(cell, '"');
	}
	fwrite(cell->str, 1, cell->len, self->out);
}

void lode_csv_number(LodeCsv *self, double value)
{
	separate(self);
	if (isfinite(value))
		fputs(LODE_EXACT_TEXT(value), self->out);
}

void lode_csv_end_row(LodeCsv *self)
{
	fputs("\r\n", self->out);
	self->has_cell = false;
}
