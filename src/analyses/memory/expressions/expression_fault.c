/* SPDX-License-Identifier: MIT */
#include "analyses/memory/expressions/expression_fault.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { SHOWN_BEFORE = 50, SHOWN_AFTER = 30 }; /* characters */

/* Gives the columns that it takes on a screen. */
static unsigned append_shown(GString *out, gunichar character)
{
	bool is_blank = character == '\t' || character == '\n' || character == '\r';
	/* Marks that turn the direction of the text would move the caret. */
	bool is_harmless = g_unichar_isprint(character) &&
	                   g_unichar_type(character) != G_UNICODE_FORMAT;

	if (is_blank || !is_harmless) {
		g_string_append_c(out, is_blank ? ' ' : '?');
		return 1;
	}
	g_string_append_unichar(out, character);
	if (g_unichar_iszerowidth(character))
		return 0;
	return g_unichar_iswide(character) ? 2 : 1;
}

static void append_excerpt(GString *out, const char *text, const char *at)
{
	const char *from = at;
	unsigned width = 0, n_after = 0;

	for (unsigned n = 0; n < SHOWN_BEFORE && from > text; n++)
		from = g_utf8_prev_char(from);
	g_string_append(out, "\n  ");
	if (from > text) {
		g_string_append(out, "...");
		width = 3;
	}
	for (; from < at; from = g_utf8_next_char(from))
		width += append_shown(out, g_utf8_get_char(from));
	for (; *from != '\0' && n_after < SHOWN_AFTER; n_after++) {
		append_shown(out, g_utf8_get_char(from));
		from = g_utf8_next_char(from);
	}
	g_string_append(out, *from != '\0' ? "..." : "");
	g_string_append_printf(out, "\n  %*s^", (int)width, "");
}

void lode_expression_fault(GError **error, const char *text, size_t offset, const char *format, ...)
{
	g_autoptr(GString) message = g_string_new(NULL);
	va_list arguments;

	g_string_printf(message, "column %ld: ", g_utf8_pointer_to_offset(text, text + offset) + 1);
	va_start(arguments, format);
	g_string_append_vprintf(message, format, arguments);
	va_end(arguments);
	append_excerpt(message, text, text + offset);
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, message->str);
}
