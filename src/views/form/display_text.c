/* SPDX-License-Identifier: MIT */
/* Text made harmless for a terminal, and its width there. */
#include "views/form/display_text.h"

#include "base/text/number_format.h"
#include "base/text/printable.h"
#include "views/form/format.h"

#include <stdarg.h>
#include <string.h>

/* A mangled C++ name has some 2,000 bytes at most; 4,096 fill two terminals of 80 columns. */
enum { MAX_BYTES = 4096, SHOWN_HEAD = 2048, SHOWN_TAIL = 1024 };

/* lode's own signs, where the charset lacks them. */
static const char *ascii_sign(gunichar character)
{
	static const struct {
		gunichar character;
		const char *text;
	} signs[] = {
		{0x27e8, "<"},   /* ⟨ */
		{0x27e9, ">"},   /* ⟩ */
		{0x27ea, "<<"},  /* ⟪ */
		{0x27eb, ">>"},  /* ⟫ */
		{0x00b1, "+-"},  /* ± */
		{0x2212, "-"},   /* − */
		{0x00b5, "u"},   /* µ */
		{0x2265, ">="},  /* ≥ */
		{0x2192, "->"},  /* → */
		{0x00d7, "x"},   /* × */
		{0x00b7, "|"},   /* · */
		{0x2013, "-"},   /* – */
		{0x2026, "..."}, /* … */
		{0x2514, "`"},   /* └ */
		{0x2500, "-"},   /* ─ */
		{0x25b6, ">"},   /* ▶ */
		{0x22ee, ":"},   /* ⋮ */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(signs); i++)
		if (signs[i].character == character)
			return signs[i].text;
	return NULL;
}

static void append_character(GString *out, gunichar character, bool is_ascii)
{
	const char *sign = is_ascii ? ascii_sign(character) : NULL;

	if (sign != NULL)
		g_string_append(out, sign);
	else if (character < 0x80 && !g_unichar_isprint(character))
		g_string_append_printf(out, "\\x%02x", character);
	else if (!lode_is_printable(character) || (is_ascii && character >= 0x80))
		g_string_append_printf(out, "\\u{%x}", character);
	else
		g_string_append_unichar(out, character);
}

static void append_harmless(GString *out, const char *text, size_t n, bool is_ascii)
{
	const char *end = text + n;

	while (text < end) {
		gunichar character = g_utf8_get_char_validated(text, end - text);
		if (character == (gunichar)-1 || character == (gunichar)-2) {
			g_string_append_printf(out, "\\x%02x", (unsigned char)*text++);
			continue;
		}
		append_character(out, character, is_ascii);
		text = g_utf8_next_char(text);
	}
}

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

void lode_display_append(GString *out, const char *text, bool is_ascii)
{
	size_t n = strlen(text), head = SHOWN_HEAD, tail = n - SHOWN_TAIL;

	if (n <= MAX_BYTES) {
		append_harmless(out, text, n, is_ascii);
		return;
	}
	/* Does not cut within a character; text that is not UTF-8 may be cut anywhere. */
	for (int i = 0; i < 3 && is_continuation(text[head]); i++)
		head--;
	for (int i = 0; i < 3 && is_continuation(text[tail]); i++)
		tail++;
	append_harmless(out, text, head, is_ascii);
	g_string_append_printf(out, "[%s bytes left out]", LODE_COUNT_TEXT((tail - head)));
	append_harmless(out, text + tail, n - tail, is_ascii);
}

char *lode_display_text(const char *text, bool is_ascii)
{
	GString *out = g_string_new(NULL);

	lode_display_append(out, text, is_ascii);
	return g_string_free(out, FALSE);
}

void lode_display_append_line(GString *out, const char *path, uint32_t line, bool is_ascii)
{
	g_autofree char *base = g_path_get_basename(path);

	lode_display_append(out, base, is_ascii);
	g_string_append_printf(out, ":%u", line);
}

void lode_display_append_whole(GString *out, const char *text, size_t n)
{
	append_harmless(out, text, n, false);
}

void lode_display_line(FILE *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *raw = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_autofree char *text = lode_display_text(raw, !g_get_charset(NULL));
	fprintf(out, "%s\n", text);
}

static size_t character_width(gunichar character)
{
	if (g_unichar_iszerowidth(character))
		return 0;
	return g_unichar_iswide(character) ? 2 : 1;
}

size_t lode_display_width(const char *text)
{
	size_t width = 0;

	for (; *text != '\0'; text = g_utf8_next_char(text))
		width += character_width(g_utf8_get_char(text));
	return width;
}

/* The longest start of `text` of at most `width` columns. */
static const char *fitting_end(const char *text, size_t width)
{
	while (*text != '\0') {
		size_t needed = character_width(g_utf8_get_char(text));
		if (needed > width)
			break;
		width -= needed;
		text = g_utf8_next_char(text);
	}
	return text;
}

/* The start of the longest end of `text` of at most `width` columns. */
static const char *fitting_start(const char *text, size_t width)
{
	const char *at = text + strlen(text);

	while (at > text) {
		const char *previous = g_utf8_prev_char(at);
		size_t needed = character_width(g_utf8_get_char(previous));
		if (needed > width)
			break;
		width -= needed;
		at = previous;
	}
	return at;
}

static const char *ellipsis(size_t width, bool is_ascii)
{
	if (is_ascii)
		return width >= 3 ? "..." : "";
	return width >= 1 ? "…" : "";
}

size_t lode_display_line_length(const char *text, size_t width)
{
	const char *blank = NULL;
	size_t used = 0;

	for (const char *at = text; *at != '\0'; at = g_utf8_next_char(at)) {
		if (*at == ' ')
			blank = at;
		used += g_unichar_iswide(g_utf8_get_char(at)) ? 2 : 1;
		if (used > width && blank != NULL && blank != text)
			return (size_t)(blank - text);
	}
	return strlen(text);
}

void lode_display_shorten(GString *text, size_t width, bool is_ascii)
{
	const char *mark = ellipsis(width, is_ascii);

	if (lode_display_width(text->str) <= width)
		return;
	const char *end = fitting_end(text->str, width - lode_display_width(mark));
	g_string_truncate(text, (gsize)(end - text->str));
	g_string_append(text, mark);
}

void lode_display_shorten_words(GString *text, size_t width, bool is_ascii)
{
	const char *mark = ellipsis(width, is_ascii);

	if (lode_display_width(text->str) <= width)
		return;
	size_t used = lode_display_width(mark) + 1;
	const char *end = fitting_end(text->str, width > used ? width - used : 0);
	const char *blank = *end == ' ' ? end : g_strrstr_len(text->str, end - text->str, " ");
	if (blank == NULL || blank - text->str < (end - text->str) * 3 / 4) {
		lode_display_shorten(text, width, is_ascii);
		return;
	}
	g_string_truncate(text, (gsize)(blank - text->str));
	g_string_append_printf(text, " %s", mark);
}

void lode_display_shorten_middle(GString *text, size_t width, bool is_ascii)
{
	const char *mark = ellipsis(width, is_ascii);

	if (lode_display_width(text->str) <= width)
		return;
	size_t left = (width - lode_display_width(mark)) / 2;
	g_autofree char *tail = g_strdup(
		fitting_start(text->str, width - lode_display_width(mark) - left));
	const char *end = fitting_end(text->str, left);
	g_string_truncate(text, (gsize)(end - text->str));
	g_string_append(text, mark);
	g_string_append(text, tail);
}

static void put_paragraph(const LodeTerminal *terminal, unsigned indent, FILE *out, const char *raw)
{
	g_autofree char *text = lode_display_text(raw, terminal->is_ascii);
	const char *rest = text;
	/* A very narrow terminal still has room for a word. */
	size_t width = terminal->width > 2 * indent ? terminal->width - indent : terminal->width;

	while (width > 0 && lode_display_width(rest) > width) {
		size_t n = lode_display_line_length(rest, width);
		if (rest[n] == '\0')
			break;
		fprintf(out, "%*s%.*s\n", (int)indent, "", (int)n, rest);
		rest += n + 1;
	}
	fprintf(out, "%*s%s\n", (int)indent, "", rest);
}

void lode_display_print(const LodeTerminal *terminal, FILE *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *raw = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	put_paragraph(terminal, 0, out, raw);
}

void lode_display_print_indented(
	const LodeTerminal *terminal, unsigned indent, FILE *out, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *raw = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	put_paragraph(terminal, indent, out, raw);
}
