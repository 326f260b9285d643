/* SPDX-License-Identifier: MIT */
/*
 * Names from a profile are a stranger's bytes. Before they reach a terminal, what is not printable
 * (control and escape codes, text direction marks, bytes that are no UTF-8) becomes \xNN or \u{N}.
 */
#pragma once

#include "views/format.h"

/* Appends `text`, harmless; with `is_ascii` every other character is escaped too, but the signs
 * that lode itself writes become <, >, ->, x and so on. */
void lode_display_append(GString *out, const char *text, bool is_ascii);

/* The same as a string of its own; the caller frees it. */
char *lode_display_text(const char *text, bool is_ascii);

/* Columns that a text takes on the terminal: wide characters two, combining ones none. */
size_t lode_display_width(const char *text);

/* Shortens in place to at most `width` columns, the last one an ellipsis when something went. */
void lode_display_shorten(GString *text, size_t width, bool is_ascii);

/* The same, but what goes is in the middle: a path or command keeps its two ends. */
void lode_display_shorten_middle(GString *text, size_t width, bool is_ascii);
