/* SPDX-License-Identifier: MIT */
/*
 * The rows of a query, one after the other, with every value checked for its type and range. The
 * first fault sticks: values read after it are 0, and the loop over the rows ends; so a loader
 * checks once, at its end.
 *
 *   LodeRowReader rows;
 *   lode_row_reader_init(&rows, database, "block", "SELECT id, count FROM block ORDER BY id");
 *   while (lode_row_reader_next(&rows))
 *           … lode_row_reader_amount(&rows, 1) …
 *   return lode_row_reader_finish(&rows, error);
 */
#pragma once

#include "store/database.h"

typedef struct {
	LodeDatabase *database;
	sqlite3_stmt *statement;
	const char *table; /* for messages */
	uint64_t n_rows;   /* read so far; the present row's number, from 1 */
	GError *error;     /* the first fault */
} LodeRowReader;

/* A fault in the SQL shows at finish. */
void lode_row_reader_init(
	LodeRowReader *self, LodeDatabase *database, const char *table, const char *sql);

/* Goes to the next row; false at the end and after a fault. */
bool lode_row_reader_next(LodeRowReader *self);

/* As next, for tables whose column 0 is an id that counts 1, 2, 3 … */
bool lode_row_reader_next_numbered(LodeRowReader *self);

/* Frees what the reader holds; false with the first fault where there was one. */
bool lode_row_reader_finish(LodeRowReader *self, GError **error);

/* Says that the present row is broken: "table 'block', row 3: " and `format`. */
void lode_row_reader_fail(LodeRowReader *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* A finite number ≥ 0. */
double lode_row_reader_amount(LodeRowReader *self, int column);
/* A finite number. */
double lode_row_reader_number(LodeRowReader *self, int column);
bool lode_row_reader_is_null(LodeRowReader *self, int column);
/* An integer 0 … limit. */
uint64_t lode_row_reader_integer(LodeRowReader *self, int column, uint64_t limit);
/* All 64 bits of an integer. */
uint64_t lode_row_reader_address(LodeRowReader *self, int column);
/* A reference as an index, from 0; whether the row exists is checked later. */
uint32_t lode_row_reader_reference(LodeRowReader *self, int column);
/* The same; NULL gives UINT32_MAX. */
uint32_t lode_row_reader_optional_reference(LodeRowReader *self, int column);
/* Text without a zero byte, valid until the next row; "" after a fault. */
const char *lode_row_reader_text(LodeRowReader *self, int column);
/* The same; NULL gives NULL. */
const char *lode_row_reader_optional_text(LodeRowReader *self, int column);
/* A word that `from_text` knows. */
int lode_row_reader_word(LodeRowReader *self, int column, int (*from_text)(const char *text));
/* A copy of bytes; NULL gives NULL. The caller owns it. */
GBytes *lode_row_reader_optional_bytes(LodeRowReader *self, int column);
