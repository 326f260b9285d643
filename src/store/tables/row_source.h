/* SPDX-License-Identifier: MIT */
/*
 * Rows for a table, taken from arrays in memory. They enter by INSERT … SELECT from a virtual table
 * over the arrays, which is faster than binding and stepping row by row; bench/store_rows.c times
 * it.
 */
#pragma once

#include "store/database.h"

typedef struct {
	const char *table;
	const char *columns; /* "id,name": their names, in the order of `column` */
	size_t n_rows;
	/* Gives column `column` of row `row` by a sqlite3_result_…(); texts are static or last
	 * until the next row. Rows are requested in ascending order, their columns likewise. */
	void (*column)(void *data, size_t row, int column, sqlite3_context *out);
	void *data; /* passed to column */
} LodeRowSource;

/* Inserts all rows. They should come in the order of the table's primary key. */
bool lode_row_source_insert(const LodeRowSource *self, LodeDatabase *database, GError **error);

/* The results that sqlite3.h does not have. */
static inline void lode_row_result_text(sqlite3_context *out, const char *text)
{
	sqlite3_result_text(out, text, -1, SQLITE_STATIC); /* NULL gives NULL */
}

/* An index of an array as a reference in the file: from 1, NULL for `none`. */
static inline void lode_row_result_reference(sqlite3_context *out, uint32_t index)
{
	if (index != UINT32_MAX)
		sqlite3_result_int64(out, (sqlite3_int64)index + 1);
}
