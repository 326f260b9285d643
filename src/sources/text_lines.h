/* SPDX-License-Identifier: MIT */
/*
 * The lines of a text file, plain or compressed as base/files/compressed_stream.h reads it, with
 * bounds on all that a hostile file could blow up: the decompressor's window, the decompressed
 * size, the length of a line.
 *
 *   file ──stream──▶ [buffer: …rest of a line | line | line | part of a li…]
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LODE_TEXT_LINES_MAX_LENGTH ((size_t)16 << 20) /* bytes of one line */

typedef struct LodeTextLines LodeTextLines;

/*
 * Opens a file for reading its lines. A compressed file may decompress to at most `limit_bytes`;
 * 0 takes the memory that is available now. `progress` may be NULL and is borrowed. Errors: _IO.
 */
LodeTextLines *lode_text_lines_open(
	const char *path, uint64_t limit_bytes, const LodeProgress *progress, GError **error);
/* The same from a descriptor, which goes with the lines, also when this fails; `path` names it. */
LodeTextLines *lode_text_lines_new(int fd, const char *path, uint64_t limit_bytes,
	const LodeProgress *progress, GError **error);
void lode_text_lines_close(LodeTextLines *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTextLines, lode_text_lines_close)

/*
 * The next line without its line feed (or carriage return and line feed), and a NUL after it; it
 * may hold NULs itself. The text is valid until the next call. Gives 1 for a line, 0 at the end, −1
 * with an error, which names file and line: _IO, _CORRUPT (compressed data), _LIMIT, _CANCELLED.
 */
int lode_text_lines_next(
	LodeTextLines *self, const char **out_line, size_t *out_length, GError **error);

/* The number of the line that was given last, from 1; 0 before the first. */
uint64_t lode_text_lines_number(const LodeTextLines *self);

/* Whether the line that was given last ended with a line feed, not with the file. */
bool lode_text_lines_is_terminated(const LodeTextLines *self);

/* Sets `error` to "PATH: line NUMBER: MESSAGE". Gives false, for the caller to return. */
bool lode_text_lines_error_at(const LodeTextLines *self, uint64_t number, GError **error, int code,
	const char *format, ...) G_GNUC_PRINTF(5, 6);
