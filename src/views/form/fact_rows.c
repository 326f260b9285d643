/* SPDX-License-Identifier: MIT */
#include "views/form/fact_rows.h"

#include "base/text/number_format.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/format.h"

#include <math.h>
#include <string.h>

static void clear_row(void *data)
{
	LodeFactRow *row = data;

	g_free(row->name);
	g_free(row->text);
	g_free(row->amount);
	g_free(row->detail);
}

GArray *lode_fact_rows_new(void)
{
	GArray *self = g_array_new(FALSE, FALSE, sizeof(LodeFactRow));

	g_array_set_clear_func(self, clear_row);
	return self;
}

LodeFactRow *lode_fact_rows_add(GArray *self, const char *section, const char *name)
{
	LodeFactRow row = {
		.section = section,
		.name = g_strdup(name),
		.number = (double)NAN,
		.share = (double)NAN,
		.bits = (double)NAN,
	};

	g_array_append_val(self, row);
	return &g_array_index(self, LodeFactRow, self->len - 1);
}

void lode_fact_rows_add_text(GArray *self, const char *section, const char *name, const char *text)
{
	lode_fact_rows_add(self, section, name)->text = g_strdup(text != NULL ? text : "unknown");
}

LodeFactRow *lode_fact_rows_add_number(
	GArray *self, const char *section, const char *name, double number)
{
	LodeFactRow *row = lode_fact_rows_add(self, section, name);

	row->number = number;
	return row;
}

typedef struct {
	LodeFactRow of;
	char *value, *amount; /* of the row, in CSV and in text */
	uint32_t level;
	LodeStyle style;
} Row;

enum { HAS_BITS = 1 };

/* Bits a reference, text and remarks, whichever there are. */
static LodeStyle append_detail(
	const void *row, const LodeTerminal *terminal, GString *out, const void *user_data)
{
	const LodeFactRow *of = &((const Row *)row)->of;
	const char *space = "";

	(void)user_data;
	if (isfinite(of->bits)) {
		g_string_append_printf(out, "%.4f bits per reference", of->bits);
		space = ", ";
	}
	if (of->text != NULL) {
		lode_display_append(out, of->text, terminal->is_ascii);
		space = "  ";
	}
	if (of->detail != NULL) {
		g_string_append(out, space);
		lode_display_append(out, of->detail, terminal->is_ascii);
	}
	return ((const Row *)row)->style;
}

static const LodeColumn columns[] = {
	{"section", LODE_CELL_TEXT(Row, of.section)},
	{"name", LODE_CELL_BORROWED(Row, of.name), .title = "", .at = 1,
		.indented = offsetof(Row, level), .styled = offsetof(Row, style)},
	{"value", LODE_CELL_TEXT(Row, value)},
	{NULL, LODE_CELL_TEXT(Row, amount), .title = "", .at = 2, .is_right = true,
		.styled = offsetof(Row, style)},
	{"share", LODE_CELL_SHARE(Row, of.share), .title = "", .at = 3,
		.styled = offsetof(Row, style)},
	{"bits_per_reference", LODE_CELL_NUMBER(Row, of.bits), .when = HAS_BITS},
	{"detail", LODE_CELL_BORROWED(Row, of.detail)},
	{.title = "", .append = append_detail, .at = 4},
};
const LodeColumns lode_fact_columns = LODE_COLUMNS("facts", columns, Row);

/* `user_data`: the first of the rows shown. */
static void fill_row(size_t number, void *out, const void *user_data)
{
	Row *row = out;

	*row = (Row){.of = ((const LodeFactRow *)user_data)[number], .level = 1};
	row->style = row->of.is_alarm ? LODE_STYLE_ALARM : LODE_STYLE_PLAIN;
	row->value = g_strdup(row->of.text);
	if (!isfinite(row->of.number))
		return;
	if (row->value == NULL)
		row->value = g_strdup(LODE_EXACT_TEXT(row->of.number));
	row->amount = g_strdup(
		row->of.amount != NULL ? row->of.amount : LODE_COUNT_TEXT(row->of.number));
}

static const char *section_title(const LodeFactTitle *titles, const char *section)
{
	for (; titles->section != NULL; titles++)
		if (strcmp(titles->section, section) == 0)
			return titles->title;
	return section;
}

void lode_fact_rows_write_text(
	const GArray *self, const LodeFactTitle *titles, const LodeTerminal *terminal, FILE *out)
{
	const LodeFactRow *rows = (const LodeFactRow *)(void *)self->data;
	LodeTerminal unlimited = *terminal;

	unlimited.width = 0;
	for (guint first = 0, end; first < self->len; first = end) {
		for (end = first + 1;
			end < self->len && strcmp(rows[end].section, rows[first].section) == 0;)
			end++;
		const LodeListing listing = {&lode_fact_columns, end - first, .fill = fill_row,
			.user_data = &rows[first]};
		if (first > 0)
			fputc('\n', out);
		lode_style_write(out, terminal, LODE_STYLE_STRONG,
			section_title(titles, rows[first].section));
		fputc('\n', out);
		lode_listing_write_text(&listing, &unlimited, out);
	}
}

void lode_fact_rows_write_csv(const GArray *self, bool has_bits, FILE *out)
{
	const LodeListing listing = {&lode_fact_columns, self->len, .fill = fill_row,
		.user_data = self->data, .what = has_bits ? HAS_BITS : 0};

	lode_listing_write_csv(&listing, out);
}
