/* SPDX-License-Identifier: MIT */
/* What all views share: the output formats and what the terminal can show. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum {
	LODE_VIEW_TEXT,
	LODE_VIEW_JSON,
	LODE_VIEW_CSV,
} LodeViewFormat;

typedef struct {
	unsigned width; /* columns; 0: unlimited (a pipe or a file) */
	bool has_colour;
} LodeTerminal;

/* "text", "json", "csv"; false for another word. */
bool lode_view_format_from_text(const char *text, LodeViewFormat *out_format);

/* What `out` is: a terminal's width, and colour unless NO_COLOR is set or TERM is dumb; plain otherwise. */
LodeTerminal lode_terminal_of(FILE *out);
