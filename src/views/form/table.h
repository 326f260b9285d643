/* SPDX-License-Identifier: MIT */
/*
 * Aligned columns for a terminal or a pipe. Cells are made twice, once to measure and once to
 * write, so that no row is kept. The last column takes the remaining width: on a terminal it is
 * shortened or continues on further lines, and when it would get too little, the columns that
 * matter least are left out.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct LodeTerminal LodeTerminal;

enum { LODE_TABLE_MAX_COLUMNS = 32 };

typedef enum {
	LODE_STYLE_PLAIN,
	LODE_STYLE_STRONG,
	LODE_STYLE_FAINT,
	LODE_STYLE_NAME,
	LODE_STYLE_ALARM,
	LODE_STYLE_BLANK, /* of a cell that is not shown */
} LodeStyle;

typedef struct {
	const char *title;
	bool is_text;    /* to the left; numbers stand to the right */
	uint8_t dropped; /* on a narrow terminal the highest goes first; 0: never */
} LodeTableColumn;

/* Appends the cell, harmless for a terminal already, and gives its style. */
typedef LodeStyle (*LodeTableCell)(
	size_t row, unsigned column, GString *out, const void *user_data);

/* Writes whole lines of its own below a row. */
typedef void (*LodeTableNote)(
	size_t row, const LodeTerminal *terminal, FILE *out, const void *user_data);

typedef struct {
	const LodeTableColumn *columns;
	unsigned n_columns; /* the last one is text */
	size_t n_rows;
	LodeTableCell cell;
	const void *user_data;
	LodeTableNote note; /* NULL: nothing stands between the rows */
	/* The width that the last column gets before others are left out; 0: 40. */
	unsigned last_width;
	bool wraps; /* the last column continues on further lines, except where it is faint */
} LodeTable;

/* Writes title line (none when all titles are empty) and rows. Gives the columns left out for want
 * of width, one bit each. */
uint32_t lode_table_write(const LodeTable *self, const LodeTerminal *terminal, FILE *out);

/* The same as a table of Markdown (GitHub Flavored Markdown, section 4.10), all columns, no notes.
 */
void lode_table_write_markdown(const LodeTable *self, FILE *out);

/* Writes `text` in a style: with colour codes around it when the terminal has colour. */
void lode_style_write(FILE *out, const LodeTerminal *terminal, LodeStyle style, const char *text);

/* Names the columns of a table that a narrow terminal had no room for, as lode_table_write() gives
 * them; nothing when there are none. */
void lode_table_write_left_out(
	const LodeTable *table, uint32_t left_out, const LodeTerminal *terminal, FILE *out);
