/* SPDX-License-Identifier: MIT */
/* Types that all views share: the output formats, the terminal's abilities, and shares as typed. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum {
	LODE_VIEW_TEXT,
	LODE_VIEW_JSON,
	LODE_VIEW_CSV,
} LodeViewFormat;

enum { LODE_SCREEN_WIDTH = 80 };

typedef struct LodeTerminal {
	unsigned width; /* columns; 0: unlimited (a pipe or a file) */
	bool has_colour;
	bool is_ascii;       /* the locale's charset is not UTF-8: <load> -> <add> */
	bool has_full_names; /* --full-names; else those of functions and types are short */
} LodeTerminal;

/* The abilities of `out`: a terminal's width, and colour unless NO_COLOR is set or TERM is dumb;
 * plain otherwise. The charset is that of the locale, so setlocale() comes first. */
LodeTerminal lode_terminal_of(FILE *out);

/* The same for what is always short, unless full names are asked for: 80 columns, also on a pipe.
 */
LodeTerminal lode_terminal_screen(const LodeTerminal *self);

/* Flushes; false and _IO with the system's reason when anything written to `out` was lost. */
bool lode_view_flush(FILE *out, GError **error);
