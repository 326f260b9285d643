/* SPDX-License-Identifier: MIT */
/*
 * JSON (RFC 8259) written as it is made: nothing is kept but the commas' state, so that a million
 * rows cost no memory. Strings that are not UTF-8 get U+FFFD for each wrong byte; what would do
 * harm on a terminal is written as \uNNNN; numbers that JSON lacks (infinite, not a number) become
 * null.
 *
 * Not json-glib's generator, with which the tests read what comes out: it writes 0.1 as
 * 0.10000000000000001 and an infinite number as such, and keeps 1 GB of tree for 300,000 rows, or
 * a tree for each row, which takes as long as this.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
	FILE *out; /* NULL: `text` is written instead */
	GString *text;
	uint32_t depth;    /* of open arrays and objects; at most 31 */
	uint32_t has_item; /* bit d: the container at depth d has one already */
	bool after_key;
	/* Bytes that are not UTF-8 stay as they are, for a reader of ours that must find a name by
	 * its bytes. */
	bool keeps_bytes;
} LodeJsonStream;

/* Writes to `out`, whose errors are the caller's to look for. A line break ends the document. */
void lode_json_stream_init(LodeJsonStream *self, FILE *out);

/* Appends to `text`, for JSON inside another format; no line break comes after it. */
void lode_json_stream_init_text(LodeJsonStream *self, GString *text);

/* `bracket` is '[' or '{'. */
void lode_json_begin(LodeJsonStream *self, char bracket);
void lode_json_end(LodeJsonStream *self, char bracket);

/* The next item begins a new line. */
void lode_json_line(LodeJsonStream *self);

void lode_json_key(LodeJsonStream *self, const char *name);
void lode_json_string(LodeJsonStream *self, const char *value); /* NULL: null */
void lode_json_number(LodeJsonStream *self, double value);
void lode_json_integer(LodeJsonStream *self, uint64_t value); /* all digits, beyond 2^53 too */
void lode_json_bool(LodeJsonStream *self, bool value);
void lode_json_address(LodeJsonStream *self, uint64_t value);           /* "0x7f00", not a number */
void lode_json_strings(LodeJsonStream *self, const GPtrArray *strings); /* NULL: [] */

/* Key and value at once. */
void lode_json_member_string(LodeJsonStream *self, const char *name, const char *value);
void lode_json_member_number(LodeJsonStream *self, const char *name, double value);
void lode_json_member_bool(LodeJsonStream *self, const char *name, bool value);
void lode_json_member_address(LodeJsonStream *self, const char *name, uint64_t value);

/* Key and begin, and line and begin, at once. */
void lode_json_member_begin(LodeJsonStream *self, const char *name, char bracket);
void lode_json_line_begin(LodeJsonStream *self, char bracket);
