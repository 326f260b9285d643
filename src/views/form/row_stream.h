/* SPDX-License-Identifier: MIT */
/*
 * Rows of named columns, as JSON or as CSV, from one description:
 *
 *   static void put(LodeRowStream *rows, const LodePageTouch *page)
 *   {
 *           lode_row_begin(rows);
 *           lode_row_number(rows, "pid", page->pid);
 *           lode_row_end(rows);
 *   }
 *
 * In JSON a row is an object on a line of its own, in CSV the names are a line of titles, for which
 * the description is called once more with a row whose values do not count.
 */
#pragma once

#include "base/text/json_stream.h"
#include "views/form/csv.h"

typedef struct {
	LodeJsonStream *json; /* NULL: CSV */
	LodeCsv csv;
	bool has_titles;    /* the line of titles is being written */
	const char *prefix; /* of titles inside a group */
} LodeRowStream;

/* Rows become items of the array that is open in `json`. */
void lode_row_stream_init_json(LodeRowStream *self, LodeJsonStream *json);

/* The row that comes first gives the titles. */
void lode_row_stream_init_csv(LodeRowStream *self, FILE *out);

void lode_row_begin(LodeRowStream *self);
void lode_row_end(LodeRowStream *self);

/* Columns in both forms; text of NULL is null or empty. */
void lode_row_text(LodeRowStream *self, const char *name, const char *value);
void lode_row_number(LodeRowStream *self, const char *name, double value);

/* 0 or 1 in CSV. */
void lode_row_flag(LodeRowStream *self, const char *name, bool value);

/* Columns that only CSV has, where JSON says the same once, before the rows. */
void lode_row_csv_text(LodeRowStream *self, const char *name, const char *value);
void lode_row_csv_number(LodeRowStream *self, const char *name, double value);

/* An object inside the object of a row; in CSV, columns whose titles have the prefix. */
void lode_row_begin_group(LodeRowStream *self, const char *name, const char *prefix);
void lode_row_end_group(LodeRowStream *self);
