/* SPDX-License-Identifier: MIT */
/*
 * Names from a profile are untrusted bytes. Before they reach a terminal, unprintable characters
 * (control and escape codes, text direction marks, bytes that are not UTF-8) become \xNN or \u{N}.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct LodeTerminal LodeTerminal;

/*
 * Appends `text`, harmless; with `is_ascii` every other character is escaped too, but the signs
 * that lode itself writes become <, >, ->, x and so on. In a text of more than 4,096 bytes, the
 * first and the last are shown, and the number of bytes left out between them; JSON and CSV have
 * whole names.
 */
void lode_display_append(GString *out, const char *text, bool is_ascii);

/* The same as a string of its own; the caller frees it. */
char *lode_display_text(const char *text, bool is_ascii);

/* Appends a line of a file, without its folders: "table.c:41". */
void lode_display_append_line(GString *out, const char *path, uint32_t line, bool is_ascii);

/* Appends `n` bytes, harmless and all of them, for a file that may be shown on a terminal. */
void lode_display_append_whole(GString *out, const char *text, size_t n);

/*
 * Writes a line to `out`, such as standard error: all that the format makes, harmless, and a line
 * break. All text printed by `cli` that may contain a name from a file goes through here.
 */
void lode_display_line(FILE *out, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Columns that a text takes on the terminal: wide characters two, combining ones none. */
size_t lode_display_width(const char *text);

/* The bytes before the last blank at which a line of `width` columns can end; the whole text when
 * it fits, or has no such blank. */
size_t lode_display_line_length(const char *text, size_t width);

/* Shortens in place to at most `width` columns, the last one an ellipsis when something went. */
void lode_display_shorten(GString *text, size_t width, bool is_ascii);

/* The same, but at the end of a word, where one ends in the last quarter. */
void lode_display_shorten_words(GString *text, size_t width, bool is_ascii);

/* The same, but what goes is in the middle: a path or command keeps its two ends. */
void lode_display_shorten_middle(GString *text, size_t width, bool is_ascii);

/* Writes words made with printf's rules as one paragraph, wrapped at " · " and blanks to the
 * terminal's width; lode's own signs fit the charset. */
void lode_display_print(const LodeTerminal *terminal, FILE *out, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* The same, each line after `indent` blanks. */
void lode_display_print_indented(const LodeTerminal *terminal, unsigned indent, FILE *out,
	const char *format, ...) G_GNUC_PRINTF(4, 5);
