/* SPDX-License-Identifier: MIT */
#include "views/form/fact_rows.h"

#include "base/text/number_format.h"
#include "views/form/csv.h"
#include "views/form/display_text.h"
#include "views/form/format.h"
#include "views/form/table.h"

#include <math.h>
#include <string.h>

typedef struct {
	const GArray *rows;
	guint first; /* of the section shown */
	const LodeTerminal *terminal;
} Section;

enum { COLUMN_NAME, COLUMN_VALUE, COLUMN_SHARE, COLUMN_DETAIL, N_COLUMNS };

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

static const LodeFactRow *row_at(const GArray *rows, guint index)
{
	return &g_array_index(rows, LodeFactRow, index);
}

/* Bits a reference, text and remarks, whichever there are. */
static void append_detail(GString *out, const LodeFactRow *row, bool is_ascii)
{
	const char *space = "";

	if (isfinite(row->bits)) {
		g_string_append_printf(out, "%.4f bits per reference", row->bits);
		space = ", ";
	}
	if (row->text != NULL) {
		lode_display_append(out, row->text, is_ascii);
		space = "  ";
	}
	if (row->detail != NULL) {
		g_string_append(out, space);
		lode_display_append(out, row->detail, is_ascii);
	}
}

static LodeStyle cell(size_t index, unsigned column, GString *out, const void *user_data)
{
	const Section *section = user_data;
	const LodeFactRow *row = row_at(section->rows, section->first + (guint)index);
	bool is_ascii = section->terminal->is_ascii;
	char text[LODE_NUMBER_SIZE];

	if (column == COLUMN_NAME) {
		g_string_append(out, "  ");
		lode_display_append(out, row->name, is_ascii);
	} else if (column == COLUMN_VALUE && isfinite(row->number)) {
		g_string_append(out, row->amount != NULL
					     ? row->amount
					     : lode_number_format_count(row->number, text));
	} else if (column == COLUMN_SHARE && isfinite(row->share)) {
		g_string_append(out, lode_number_format_share(row->share, text));
	} else if (column == COLUMN_DETAIL) {
		append_detail(out, row, is_ascii);
	}
	return row->is_alarm ? LODE_STYLE_ALARM : LODE_STYLE_PLAIN;
}

static const char *section_title(const LodeFactTitle *titles, const char *section)
{
	for (; titles->section != NULL; titles++)
		if (strcmp(titles->section, section) == 0)
			return titles->title;
	return section;
}

static void put_section(const Section *section, guint n, const char *title, FILE *out)
{
	static const LodeTableColumn columns[N_COLUMNS] = {
		{"", .is_text = true},
		{""},
		{""},
		{"", .is_text = true},
	};
	LodeTable table = {columns, N_COLUMNS, n, cell, section};
	LodeTerminal unlimited = *section->terminal;

	if (section->first > 0)
		fputc('\n', out);
	lode_style_write(out, section->terminal, LODE_STYLE_STRONG, title);
	fputc('\n', out);
	unlimited.width = 0;
	lode_table_write(&table, &unlimited, out);
}

void lode_fact_rows_write_text(
	const GArray *self, const LodeFactTitle *titles, const LodeTerminal *terminal, FILE *out)
{
	Section section = {.rows = self, .terminal = terminal};

	while (section.first < self->len) {
		const char *name = row_at(self, section.first)->section;
		guint n = 1;
		while (section.first + n < self->len &&
			strcmp(row_at(self, section.first + n)->section, name) == 0)
			n++;
		put_section(&section, n, section_title(titles, name), out);
		section.first += n;
	}
}

static void put_csv_titles(LodeCsv *csv, bool has_bits)
{
	lode_csv_text(csv, "section");
	lode_csv_text(csv, "name");
	lode_csv_text(csv, "value");
	lode_csv_text(csv, "share");
	if (has_bits)
		lode_csv_text(csv, "bits_per_reference");
	lode_csv_text(csv, "detail");
	lode_csv_end_row(csv);
}

void lode_fact_rows_write_csv(const GArray *self, bool has_bits, FILE *out)
{
	LodeCsv csv;

	lode_csv_init(&csv, out);
	put_csv_titles(&csv, has_bits);
	for (guint i = 0; i < self->len; i++) {
		const LodeFactRow *row = row_at(self, i);
		lode_csv_text(&csv, row->section);
		lode_csv_text(&csv, row->name);
		if (row->text != NULL)
			lode_csv_text(&csv, row->text);
		else
			lode_csv_number(&csv, row->number);
		lode_csv_number(&csv, row->share);
		if (has_bits)
			lode_csv_number(&csv, row->bits);
		lode_csv_text(&csv, row->detail);
		lode_csv_end_row(&csv);
	}
}
