/* SPDX-License-Identifier: MIT */
/* Comma-separated rows by RFC 4180. */
#include "views/csv.h"

#include "base/number_format.h"
#include "views/display_text.h"

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

/* One piece between line breaks and tabs, which RFC 4180 allows inside quotes. */
static void put_piece(FILE *out, const char *text, size_t n)
{
	g_autofree char *piece = g_strndup(text, n);
	g_autofree char *plain = lode_display_text(piece, false);

	for (const char *at = plain; *at != '\0'; at++) {
		if (*at == '"')
			fputc('"', out);
		fputc(*at, out);
	}
}

void lode_csv_text(LodeCsv *self, const char *value)
{
	separate(self);
	if (value == NULL)
		return;
	bool is_quoted = strpbrk(value, ",\"\r\n") != NULL;
	if (is_quoted)
		fputc('"', self->out);
	while (*value != '\0') {
		size_t n = strcspn(value, "\r\n\t");
		put_piece(self->out, value, n);
		value += n;
		if (*value != '\0')
			fputc(*value++, self->out);
	}
	if (is_quoted)
		fputc('"', self->out);
}

void lode_csv_number(LodeCsv *self, double value)
{
	char buffer[LODE_NUMBER_SIZE];

	separate(self);
	if (isfinite(value))
		fputs(lode_number_format_exact(value, buffer), self->out);
}

void lode_csv_end_row(LodeCsv *self)
{
	fputs("\r\n", self->out);
	self->has_cell = false;
}
