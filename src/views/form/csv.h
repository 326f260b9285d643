/* SPDX-License-Identifier: MIT */
/*
 * Comma-separated rows by RFC 4180: lines end with CR LF, a cell with a comma, quote or line break
 * is quoted. Cells may hold names that anybody chose, so control characters other than line feeds
 * and tabs come out escaped (\xNN), and a text that a spreadsheet would compute, as it begins with
 * = + - @ or a blank control character and is not a number, gets an apostrophe before it.
 *
 * Private to views/form/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct {
	FILE *out;
	bool has_cell; /* the row has one already */
} LodeCsv;

void lode_csv_init(LodeCsv *self, FILE *out);
void lode_csv_text(LodeCsv *self, const char *value); /* NULL: an empty cell */
void lode_csv_number(LodeCsv *self, double value);    /* infinite or no number: an empty cell */
void lode_csv_end_row(LodeCsv *self);
