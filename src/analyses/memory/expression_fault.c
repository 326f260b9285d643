/* SPDX-License-Identifier: MIT */
#include "analyses/memory/expression_fault.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { SHOWN_BEFORE = 50, SHOWN_AFTER = 30 }; /* characters */

static unsigned width_of(gunichar character)
{
	if (g_unichar_iszerowidth(character))
		return 0;
	return g_unichar_iswide(character) ? 2 : 1;
}

static bool is_harmless(gunichar character)
{
	/* Marks that turn the direction of the text would move the caret. */
	return g_unichar_isprint(character) && g_unichar_type(character) != G_UNICODE_FORMAT;
}

static void append_shown(GString *out, gunichar character)
{
	if (character == '\t' || character == '\n' || character == '\r')
		g_string_append_c(out, ' ');
	else if (is_harmless(character))
		g_string_append_unichar(out, character);
	else
		g_string_append_c(out, '?');
}

static unsigned shown_width(gunichar character)
{
	return is_harmless(character) ? width_of(character) : 1;
}

/* Up to n characters back from `at`, not before `text`. */
static const char *back(const char *text, const char *at, unsigned n)
{
	for (; n > 0 && at > text; n--)
		at = g_utf8_prev_char(at);
	return at;
}

static void append_excerpt(GString *out, const char *text, const char *at)
{
	const char *from = back(text, at, SHOWN_BEFORE);
	unsigned width = 0, n_after = 0;

	g_string_append(out, "\n  ");
	if (from > text) {
		g_string_append(out, "...");
		width = 3;
	}
	for (; from < at; from = g_utf8_next_char(from)) {
		append_shown(out, g_utf8_get_char(from));
		width += shown_width(g_utf8_get_char(from));
	}
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
