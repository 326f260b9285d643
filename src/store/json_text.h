/* SPDX-License-Identifier: MIT */
/*
 * Reads the little JSON that the store keeps in text columns: strings, numbers, flat lists. A
 * cursor with a sticky failure reads it without building a tree, for a run has hundreds of
 * thousands.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct {
	const char *next;
	bool has_failed;
	GString *text; /* the string read last */
} LodeJsonCursor;

/* Starts at the beginning of `text`, which it borrows. */
void lode_json_cursor_init(LodeJsonCursor *self, const char *text);
void lode_json_cursor_clear(LodeJsonCursor *self);

/* Steps over `symbol` and the white space before it, if it comes next. */
bool lode_json_cursor_accept(LodeJsonCursor *self, char symbol);

/* The same; not finding it is a failure. */
void lode_json_cursor_expect(LodeJsonCursor *self, char symbol);

/* Whether nothing but white space is left, and nothing has failed. */
bool lode_json_cursor_is_done(LodeJsonCursor *self);

/* A string's contents, valid until the next; NULL when none comes next (a failure). */
const char *lode_json_cursor_string(LodeJsonCursor *self);

/* A number, a string, true, false or null, as its plain text ("null": NULL); sets
 * *out_is_string. Valid until the next. */
const char *lode_json_cursor_scalar(LodeJsonCursor *self, bool *out_is_string);
