/* SPDX-License-Identifier: MIT */
#include "views/form/listing.h"

#include "base/text/number_format.h"
#include "views/form/csv.h"
#include "views/form/display_text.h"
#include "views/form/format.h"
#include "views/form/function_name.h"
#include "views/form/table.h"

#include <math.h>
#include <string.h>

static const void *member_at(const LodeColumn *column, const void *row)
{
	return (const char *)row + column->offset;
}

/* No number where there is none. */
static double number_of(const LodeColumn *column, const void *row)
{
	const void *member = member_at(column, row);

	switch (column->stored) {
	case LODE_STORED_DOUBLE:
		return *(const double *)member;
	case LODE_STORED_UINT64:
		return (double)*(const uint64_t *)member;
	case LODE_STORED_INT64:
		return (double)*(const int64_t *)member;
	case LODE_STORED_UINT32:
		return *(const uint32_t *)member;
	case LODE_STORED_INT32:
		return *(const int32_t *)member;
	case LODE_STORED_UINT16:
		return *(const uint16_t *)member;
	case LODE_STORED_UINT8:
		return *(const uint8_t *)member;
	case LODE_STORED_BOOL:
		return *(const bool *)member;
	case LODE_STORED_NOWHERE:
	case LODE_STORED_TEXT:
	case LODE_STORED_OWNED_TEXT:
	case LODE_STORED_TEXTS:
	case LODE_STORED_OWNED_TEXTS:
		break;
	}
	return (double)NAN;
}

/* Whether the value is a text; `out_text` NULL: there is none. The buffer holds an address. */
static bool text_of(const LodeColumn *column, const void *row, char buffer[LODE_NUMBER_SIZE],
	const char **out_text)
{
	if (column->words != NULL)
		*out_text = column->words[(size_t)number_of(column, row)];
	else if (column->kind == LODE_COLUMN_ADDRESS)
		*out_text = lode_number_format_address(
			*(const uint64_t *)member_at(column, row), buffer);
	else if (column->stored == LODE_STORED_TEXT || column->stored == LODE_STORED_OWNED_TEXT)
		*out_text = *(const char *const *)member_at(column, row);
	else
		return false;
	return true;
}

void lode_columns_repeat(
	const LodeColumns *self, const char *const *keys, unsigned n, LodeColumns *out)
{
	LodeColumn *columns = g_new(LodeColumn, self->n_columns + n);
	unsigned n_columns = 0;

	for (unsigned i = 0; i < self->n_columns; i++) {
		bool is_repeated = self->columns[i].is_repeated;
		for (unsigned k = 0; k < (is_repeated ? n : 1); k++) {
			columns[n_columns] = self->columns[i];
			columns[n_columns].offset += k * sizeof(double);
			if (is_repeated)
				columns[n_columns].key = keys[k];
			n_columns++;
		}
	}
	*out = (LodeColumns){self->name, columns, n_columns, self->row_size + n * sizeof(double)};
}

/* --- rows --- */

typedef struct {
	const LodeListing *listing;
	void *made;    /* a row's memory where there is no array */
	size_t number; /* of the row in it; SIZE_MAX: none */
} Rows;

static void clear_owned(const LodeColumns *columns, char *row)
{
	for (unsigned i = 0; i < columns->n_columns; i++) {
		const LodeColumn *column = &columns->columns[i];
		if (column->kind == LODE_COLUMN_PART)
			clear_owned(column->part, row + column->offset);
		else if (column->stored == LODE_STORED_OWNED_TEXT)
			g_clear_pointer((char **)(row + column->offset), g_free);
		else if (column->stored == LODE_STORED_OWNED_TEXTS)
			g_clear_pointer((GPtrArray **)(row + column->offset), g_ptr_array_unref);
	}
}

static void clear_made(Rows *self)
{
	if (self->number != SIZE_MAX)
		clear_owned(self->listing->columns, self->made);
	self->number = SIZE_MAX;
}

static void rows_clear(Rows *self)
{
	if (self->made != NULL)
		clear_made(self);
	g_free(self->made);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rows, rows_clear)

static Rows rows_of(const LodeListing *listing)
{
	return (Rows){.listing = listing,
		.made = listing->rows == NULL ? g_malloc0(listing->columns->row_size) : NULL,
		.number = SIZE_MAX};
}

/* Valid until the next call. */
static const void *row_at(Rows *self, size_t number)
{
	const LodeListing *listing = self->listing;

	if (listing->rows != NULL)
		return (const char *)listing->rows + number * listing->columns->row_size;
	if (number != self->number) {
		clear_made(self);
		memset(self->made, 0, listing->columns->row_size);
		listing->fill(number, self->made, listing->user_data);
		self->number = number;
	}
	return self->made;
}

/* --- text --- */

typedef struct {
	Rows rows;
	const LodeTerminal *terminal;
	const LodeColumn *shown[LODE_TABLE_MAX_COLUMNS]; /* by place */
} Text;

static void append_number(const LodeColumn *column, double value, GString *out)
{
	bool is_ratio = column->kind == LODE_COLUMN_RATIO;
	char text[LODE_NUMBER_SIZE], format[8];

	g_snprintf(format, sizeof(format), "%%.%uf", is_ratio ? 3 : column->decimals);
	if (column->kind == LODE_COLUMN_COUNT)
		lode_number_format_count(value, text);
	else if (column->kind == LODE_COLUMN_SHARE)
		lode_number_format_share(value, text);
	else if (column->kind == LODE_COLUMN_SIZE)
		lode_number_format_bytes((uint64_t)value, text);
	else if (column->kind == LODE_COLUMN_TIME)
		lode_number_format_time(1e9 * value, text);
	else if (is_ratio || column->decimals > 0)
		g_ascii_formatd(text, sizeof(text), format, is_ratio ? 100 * value : value);
	else
		lode_number_format_exact(value, text);
	g_string_append_printf(out, "%s%s", text, is_ratio ? " %" : "");
}

static LodeStyle listing_cell(size_t number, unsigned i, GString *out, const void *user_data)
{
	Text *self = (Text *)user_data;
	const LodeColumn *column = self->shown[i];
	const void *row = row_at(&self->rows, number);
	char buffer[LODE_NUMBER_SIZE];
	const char *text = NULL;

	if (column->indented != 0)
		g_string_append_printf(out, "%*s",
			(int)(2 * *(const uint32_t *)((const char *)row + column->indented)), "");
	if (column->append != NULL)
		return column->append(row, self->terminal, out, self->rows.listing->user_data);
	LodeStyle style = column->styled != 0
	                          ? *(const LodeStyle *)((const char *)row + column->styled)
	                          : column->style;
	if (style == LODE_STYLE_BLANK)
		return LODE_STYLE_PLAIN;
	bool is_text = text_of(column, row, buffer, &text);
	if (!is_text && !isnan(number_of(column, row)))
		append_number(column, number_of(column, row), out);
	else if (text == NULL)
		g_string_append(out, column->missing != NULL ? column->missing : "");
	else if (column->kind == LODE_COLUMN_NAME)
		lode_function_name_append(out, text, self->terminal);
	else
		lode_display_append(out, text, self->terminal->is_ascii);
	return style;
}

static void listing_note(
	size_t number, const LodeTerminal *terminal, FILE *out, const void *user_data)
{
	const LodeListing *listing = ((const Text *)user_data)->rows.listing;

	listing->note(number, terminal, out, listing->user_data);
}

static bool is_wanted(const LodeListing *self, const LodeColumn *column)
{
	return column->when == 0 || (column->when & self->what) != 0;
}

static bool has_value(Text *self, const LodeColumn *column)
{
	char buffer[LODE_NUMBER_SIZE];
	const char *text;

	for (size_t i = 0; i < self->rows.listing->n_rows; i++) {
		const void *row = row_at(&self->rows, i);
		double number = number_of(column, row);
		if (text_of(column, row, buffer, &text) ? text != NULL
							: !isnan(number) && number != 0)
			return true;
	}
	return false;
}

/* Gives how many are shown. */
static unsigned choose_columns(Text *self, LodeTableColumn *out_columns)
{
	const LodeListing *listing = self->rows.listing;
	unsigned n = 0;

	for (unsigned at = 1; at <= LODE_TABLE_MAX_COLUMNS; at++) {
		for (unsigned i = 0; i < listing->columns->n_columns; i++) {
			const LodeColumn *column = &listing->columns->columns[i];
			bool is_text = column->kind <= LODE_COLUMN_NAME ||
			               column->kind == LODE_COLUMN_ADDRESS;
			const char *title = column->title != NULL ? column->title : column->key;
			if (column->at != at || !is_wanted(listing, column) ||
				(column->hides_empty && !has_value(self, column)))
				continue;
			out_columns[n] = (LodeTableColumn){
				column->titled > 0 ? listing->titles[column->titled - 1] : title,
				.is_text = is_text && !column->is_right,
				.dropped = column->dropped};
			self->shown[n++] = column;
		}
	}
	return n;
}

static LodeTable table_of(Text *self, LodeTableColumn *columns)
{
	const LodeListing *listing = self->rows.listing;

	return (LodeTable){
		.columns = columns,
		.n_columns = choose_columns(self, columns),
		.n_rows = listing->n_rows,
		.cell = listing_cell,
		.user_data = self,
		.note = listing->note != NULL ? listing_note : NULL,
		.last_width = listing->last_width,
		.wraps = listing->wraps,
	};
}

void lode_listing_write_text(const LodeListing *self, const LodeTerminal *terminal, FILE *out)
{
	LodeTableColumn columns[LODE_TABLE_MAX_COLUMNS];
	Text text = {.rows = rows_of(self), .terminal = terminal};
	const LodeTable table = table_of(&text, columns);
	uint32_t left_out = lode_table_write(&table, terminal, out);

	if (self->tells_left_out)
		lode_table_write_left_out(&table, left_out, terminal, out);
	rows_clear(&text.rows);
}

void lode_listing_write_markdown(const LodeListing *self, FILE *out)
{
	LodeTableColumn columns[LODE_TABLE_MAX_COLUMNS];
	const LodeTerminal terminal = {0};
	Text text = {.rows = rows_of(self), .terminal = &terminal};
	const LodeTable table = table_of(&text, columns);

	lode_table_write_markdown(&table, out);
	rows_clear(&text.rows);
}

/* --- CSV --- */

/* Whether a form with keys has it. */
static bool is_in(const LodeListing *self, const LodeColumn *column, uint8_t form)
{
	return (column->only == 0 || column->only == form) && is_wanted(self, column);
}

static bool is_json(const LodeColumn *column)
{
	return column->kind == LODE_COLUMN_TEXTS || column->kind == LODE_COLUMN_JSON;
}

static void put_json_value(
	const LodeListing *self, const LodeColumn *column, const void *row, LodeJsonStream *json)
{
	if (column->kind == LODE_COLUMN_JSON)
		column->put(json, row, self->user_data);
	else
		lode_json_strings(json, *(GPtrArray *const *)member_at(column, row));
}

static bool is_csv_cell(const LodeColumn *column)
{
	return (column->stored != LODE_STORED_NOWHERE || is_json(column)) && column->key != NULL;
}

static void put_titles(
	const LodeListing *self, const LodeColumns *columns, const char *prefix, LodeCsv *csv)
{
	for (unsigned i = 0; i < columns->n_columns; i++) {
		const LodeColumn *column = &columns->columns[i];
		if (!is_in(self, column, LODE_IN_CSV))
			continue;
		if (column->kind == LODE_COLUMN_GROUP)
			prefix = column->title;
		else if (column->kind == LODE_COLUMN_GROUP_END)
			prefix = "";
		else if (column->kind == LODE_COLUMN_PART)
			put_titles(self, column->part, prefix, csv);
		if (!is_csv_cell(column))
			continue;
		g_autofree char *title = g_strconcat(prefix, column->key, NULL);
		lode_csv_text(csv, title);
	}
}

void lode_listing_put_csv_titles(const LodeListing *self, FILE *out)
{
	LodeCsv csv;

	lode_csv_init(&csv, out);
	put_titles(self, self->columns, "", &csv);
	lode_csv_end_row(&csv);
}

static void put_cell(
	const LodeListing *self, const LodeColumn *column, const void *row, LodeCsv *csv)
{
	char buffer[LODE_NUMBER_SIZE];
	const char *text;

	if (is_json(column)) {
		g_autoptr(GString) cell = g_string_new(NULL);
		LodeJsonStream json;
		lode_json_stream_init_text(&json, cell);
		put_json_value(self, column, row, &json);
		lode_csv_text(csv, cell->str);
	} else if (text_of(column, row, buffer, &text)) {
		lode_csv_text(csv, text);
	} else {
		lode_csv_number(csv, number_of(column, row));
	}
}

static void put_cells(
	const LodeListing *self, const LodeColumns *columns, const void *row, LodeCsv *csv)
{
	for (unsigned i = 0; i < columns->n_columns; i++) {
		const LodeColumn *column = &columns->columns[i];
		if (!is_in(self, column, LODE_IN_CSV))
			continue;
		if (column->kind == LODE_COLUMN_PART)
			put_cells(self, column->part, member_at(column, row), csv);
		else if (is_csv_cell(column))
			put_cell(self, column, row, csv);
	}
}

void lode_listing_put_csv_rows(const LodeListing *self, FILE *out)
{
	g_auto(Rows) rows = rows_of(self);
	LodeCsv csv;

	lode_csv_init(&csv, out);
	for (size_t i = 0; i < self->n_rows; i++) {
		put_cells(self, self->columns, row_at(&rows, i), &csv);
		lode_csv_end_row(&csv);
	}
}

void lode_listing_write_csv(const LodeListing *self, FILE *out)
{
	lode_listing_put_csv_titles(self, out);
	lode_listing_put_csv_rows(self, out);
}

/* --- JSON --- */

static void put_value(
	const LodeListing *self, const LodeColumn *column, const void *row, LodeJsonStream *json)
{
	char buffer[LODE_NUMBER_SIZE];
	const char *text = NULL;
	bool is_text = text_of(column, row, buffer, &text);
	double number = number_of(column, row);

	if (column->is_optional && (is_text ? text == NULL : isnan(number)))
		return;
	if (is_json(column)) {
		lode_json_key(json, column->key);
		put_json_value(self, column, row, json);
	} else if (is_text && column->kind == LODE_COLUMN_NAME) {
		lode_function_name_json(json, column->key, text);
	} else if (is_text) {
		lode_json_member_string(json, column->key, text);
	} else if (column->kind == LODE_COLUMN_FLAG) {
		lode_json_member_bool(json, column->key, number != 0);
	} else {
		lode_json_member_number(json, column->key, number);
	}
}

static void put_members(
	const LodeListing *self, const LodeColumns *columns, const void *row, LodeJsonStream *json)
{
	for (unsigned i = 0; i < columns->n_columns; i++) {
		const LodeColumn *column = &columns->columns[i];
		if (!is_in(self, column, LODE_IN_JSON))
			continue;
		if (column->kind == LODE_COLUMN_GROUP_END)
			lode_json_end(json, '}');
		else if (column->put != NULL && column->key == NULL)
			column->put(json, row, self->user_data);
		else if (column->kind == LODE_COLUMN_PART)
			put_members(self, column->part, member_at(column, row), json);
		else if (column->kind == LODE_COLUMN_GROUP)
			lode_json_member_begin(json, column->key, '{');
		else if (column->key != NULL)
			put_value(self, column, row, json);
	}
}

void lode_columns_put_json(const LodeColumns *self, const void *row, LodeJsonStream *json)
{
	put_members(&(LodeListing){0}, self, row, json);
}

void lode_listing_put_json_rows(const LodeListing *self, LodeJsonStream *json)
{
	g_auto(Rows) rows = rows_of(self);

	for (size_t i = 0; i < self->n_rows; i++) {
		lode_json_line_begin(json, '{');
		put_members(self, self->columns, row_at(&rows, i), json);
		lode_json_end(json, '}');
	}
}

void lode_listing_put_json(const LodeListing *self, LodeJsonStream *json)
{
	lode_json_member_begin(json, self->columns->name, '[');
	lode_listing_put_json_rows(self, json);
	lode_json_end(json, ']');
}

void lode_columns_put_json_list(const LodeColumns *self, const GArray *rows, LodeJsonStream *json)
{
	lode_listing_put_json(&(LodeListing){self, rows->len, rows->data}, json);
}
