/* SPDX-License-Identifier: MIT */
/* Aligned columns for a terminal or a pipe. */
#include "views/form/table.h"

#include "views/form/display_text.h"
#include "views/form/format.h"

#include <string.h>

enum { LAST_COLUMN_MINIMUM = 40, COLUMN_GAP = 2, CONTINUED_INDENT = 2 };

typedef struct {
	const LodeTable *table;
	const LodeTerminal *terminal;
	FILE *out;
	size_t widths[LODE_TABLE_MAX_COLUMNS];
	uint32_t left_out;
	GString *cell;
	size_t pending; /* blanks that only come when something follows them */
} Layout;

void lode_style_write(FILE *out, const LodeTerminal *terminal, LodeStyle style, const char *text)
{
	static const char *const codes[] = {"", "1", "2", "36", "31"};

	if (terminal->has_colour && style != LODE_STYLE_PLAIN && text[0] != '\0')
		fprintf(out, "\x1b[%sm%s\x1b[0m", codes[style], text);
	else
		fputs(text, out);
}

static bool is_left_out(const Layout *self, unsigned column)
{
	return (self->left_out >> column & 1) != 0;
}

static void measure(Layout *self)
{
	const LodeTable *table = self->table;

	for (unsigned i = 0; i < table->n_columns; i++)
		self->widths[i] = lode_display_width(table->columns[i].title);
	for (size_t row = 0; row < table->n_rows; row++) {
		for (unsigned i = 0; i < table->n_columns; i++) {
			g_string_truncate(self->cell, 0);
			table->cell(row, i, self->cell, table->user_data);
			self->widths[i] = MAX(self->widths[i], lode_display_width(self->cell->str));
		}
	}
}

static size_t width_before_last(const Layout *self)
{
	size_t width = 0;

	for (unsigned i = 0; i + 1 < self->table->n_columns; i++)
		if (!is_left_out(self, i))
			width += self->widths[i] + COLUMN_GAP;
	return width;
}

/* The next column to leave out, or n_columns. */
static unsigned least_needed(const Layout *self)
{
	unsigned found = self->table->n_columns;
	uint8_t highest = 0;

	for (unsigned i = 0; i + 1 < self->table->n_columns; i++) {
		uint8_t dropped = self->table->columns[i].dropped;
		if (!is_left_out(self, i) && dropped > highest) {
			highest = dropped;
			found = i;
		}
	}
	return found;
}

static void fit(Layout *self)
{
	unsigned last = self->table->n_columns - 1;
	size_t wanted = MIN(self->widths[last],
		self->table->last_width > 0 ? self->table->last_width : LAST_COLUMN_MINIMUM);

	if (self->terminal->width == 0)
		return;
	while (width_before_last(self) + wanted > self->terminal->width) {
		unsigned column = least_needed(self);
		if (column > last)
			break;
		self->left_out |= 1u << column;
	}
	size_t before = width_before_last(self);
	size_t left = self->terminal->width > before ? self->terminal->width - before : 0;
	self->widths[last] = MIN(self->widths[last], MAX(left, 8));
}

static void put_padded(Layout *self, LodeStyle style)
{
	if (self->cell->len == 0)
		return;
	fprintf(self->out, "%*s", (int)MIN(self->pending, 1 << 16), "");
	self->pending = 0;
	lode_style_write(self->out, self->terminal, style, self->cell->str);
}

static void end_row(Layout *self)
{
	fputc('\n', self->out);
	self->pending = 0;
}

/* Writes the lines of the last column but the last one, which stays in the cell. */
static void put_wrapped(Layout *self, unsigned column, LodeStyle style)
{
	size_t width = self->widths[column];
	g_autofree char *text = g_strdup(self->cell->str);
	const char *rest = text;

	while (lode_display_width(rest) > width) {
		size_t n = lode_display_line_length(rest, width);
		if (rest[n] == '\0')
			break;
		g_string_truncate(self->cell, 0);
		g_string_append_len(self->cell, rest, (gssize)n);
		lode_display_shorten(self->cell, width, self->terminal->is_ascii);
		put_padded(self, style);
		end_row(self);
		self->pending = width_before_last(self) + CONTINUED_INDENT;
		width = self->widths[column] - CONTINUED_INDENT;
		rest += n + 1;
	}
	g_string_assign(self->cell, rest);
	lode_display_shorten(self->cell, width, self->terminal->is_ascii);
}

static void put_cell(Layout *self, unsigned column, LodeStyle style)
{
	const LodeTableColumn *description = &self->table->columns[column];
	bool is_last = column + 1 == self->table->n_columns;

	if (is_last && self->terminal->width != 0 && self->table->wraps &&
		style != LODE_STYLE_FAINT)
		put_wrapped(self, column, style);
	else if (is_last && self->terminal->width != 0)
		lode_display_shorten(self->cell, self->widths[column], self->terminal->is_ascii);
	size_t width = lode_display_width(self->cell->str);
	size_t padding = self->widths[column] > width ? self->widths[column] - width : 0;
	self->pending += description->is_text ? 0 : padding;
	put_padded(self, style);
	self->pending += COLUMN_GAP + (description->is_text ? padding : 0);
}

static void put_titles(Layout *self)
{
	for (unsigned i = 0; i < self->table->n_columns; i++) {
		if (is_left_out(self, i))
			continue;
		g_string_truncate(self->cell, 0);
		lode_display_append(
			self->cell, self->table->columns[i].title, self->terminal->is_ascii);
		put_cell(self, i, LODE_STYLE_STRONG);
	}
	end_row(self);
}

static bool has_titles(const LodeTable *table)
{
	for (unsigned i = 0; i < table->n_columns; i++)
		if (table->columns[i].title[0] != '\0')
			return true;
	return false;
}

static void put_row(Layout *self, size_t row)
{
	for (unsigned i = 0; i < self->table->n_columns; i++) {
		if (is_left_out(self, i))
			continue;
		g_string_truncate(self->cell, 0);
		LodeStyle style = self->table->cell(row, i, self->cell, self->table->user_data);
		put_cell(self, i, style);
	}
	end_row(self);
	if (self->table->note != NULL)
		self->table->note(row, self->terminal, self->out, self->table->user_data);
}

uint32_t lode_table_write(const LodeTable *self, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) cell = g_string_new(NULL);
	Layout layout = {.table = self, .terminal = terminal, .out = out, .cell = cell};

	g_assert(self->n_columns > 0 && self->n_columns <= LODE_TABLE_MAX_COLUMNS);
	measure(&layout);
	fit(&layout);
	if (has_titles(self))
		put_titles(&layout);
	for (size_t row = 0; row < self->n_rows; row++)
		put_row(&layout, row);
	return layout.left_out;
}

/* What would end the cell or begin markup is escaped: names are of strangers. */
static void put_markdown_cell(const char *text, FILE *out)
{
	fputs("| ", out);
	for (; *text != '\0'; text++) {
		if (*text == '<' || *text == '&')
			fprintf(out, *text == '<' ? "&lt;" : "&amp;");
		else
			fprintf(out, "%s%c", strchr("\\`*_[]|~@#!", *text) != NULL ? "\\" : "",
				*text);
	}
	fputc(' ', out);
}

void lode_table_write_markdown(const LodeTable *self, FILE *out)
{
	g_autoptr(GString) cell = g_string_new(NULL);

	for (unsigned i = 0; i < self->n_columns; i++)
		put_markdown_cell(self->columns[i].title, out);
	fputs("|\n", out);
	for (unsigned i = 0; i < self->n_columns; i++)
		fputs(self->columns[i].is_text ? "|:--" : "|--:", out);
	fputs("|\n", out);
	for (size_t row = 0; row < self->n_rows; row++) {
		for (unsigned i = 0; i < self->n_columns; i++) {
			g_string_truncate(cell, 0);
			self->cell(row, i, cell, self->user_data);
			put_markdown_cell(cell->str, out);
		}
		fputs("|\n", out);
	}
}

void lode_table_write_left_out(
	const LodeTable *table, uint32_t left_out, const LodeTerminal *terminal, FILE *out)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (unsigned i = 0; i < table->n_columns; i++)
		if ((left_out >> i & 1) != 0)
			g_string_append_printf(
				names, "%s%s", names->len > 0 ? ", " : "", table->columns[i].title);
	if (names->len > 0)
		lode_display_print(
			terminal, out, "(a wider terminal, or a pipe, shows also: %s)", names->str);
}
