/* SPDX-License-Identifier: MIT */
/* JSON written as it is made. */
#include "base/text/json_stream.h"

#include "base/text/number_format.h"
#include "base/text/printable.h"

#include <math.h>
#include <string.h>

void lode_json_stream_init(LodeJsonStream *self, FILE *out)
{
	*self = (LodeJsonStream){.out = out};
}

void lode_json_stream_init_text(LodeJsonStream *self, GString *text)
{
	*self = (LodeJsonStream){.text = text};
}

static void put(LodeJsonStream *self, const char *text, size_t n)
{
	if (self->out != NULL)
		fwrite(text, 1, n, self->out);
	else
		g_string_append_len(self->text, text, (gssize)n);
}

static void put_text(LodeJsonStream *self, const char *text)
{
	put(self, text, strlen(text));
}

static void separate(LodeJsonStream *self)
{
	uint32_t bit = 1u << self->depth;

	if (!self->after_key && (self->has_item & bit) != 0)
		put(self, ",", 1);
	self->has_item |= bit;
	self->after_key = false;
}

void lode_json_begin(LodeJsonStream *self, char bracket)
{
	separate(self);
	put(self, &bracket, 1);
	g_assert(self->depth < 31);
	self->depth++;
	self->has_item &= ~(1u << self->depth);
}

void lode_json_end(LodeJsonStream *self, char bracket)
{
	g_assert(self->depth > 0);
	self->depth--;
	put(self, &bracket, 1);
	if (self->depth == 0 && self->out != NULL)
		put(self, "\n", 1);
}

void lode_json_line(LodeJsonStream *self)
{
	uint32_t bit = 1u << self->depth;

	/* The comma belongs before the line's end; the item then needs none. */
	if ((self->has_item & bit) != 0)
		put(self, ",", 1);
	self->has_item &= ~bit;
	put(self, "\n", 1);
}

/* \uNNNN, twice for what lies beyond 16 bits. */
static void put_code(LodeJsonStream *self, gunichar character)
{
	char escape[16];

	if (character < 0x10000)
		g_snprintf(escape, sizeof(escape), "\\u%04x", character);
	else
		g_snprintf(escape, sizeof(escape), "\\u%04x\\u%04x", 0xd7c0 + (character >> 10),
			0xdc00 + (character & 0x3ff));
	put_text(self, escape);
}

/* Copies runs of plain bytes whole and escapes what lies between. */
static void put_escaped(LodeJsonStream *self, const char *text)
{
	const char *start = text;

	while (*text != '\0') {
		gunichar character = (unsigned char)*text;
		if (character >= 0x80)
			character = g_utf8_get_char_validated(text, -1);
		/* Most of all text. */
		if (character >= 0x20 && character < 0x7f && character != '"' &&
			character != '\\') {
			text++;
			continue;
		}
		bool is_wrong = character == (gunichar)-1 || character == (gunichar)-2;
		bool is_sign = character == '"' || character == '\\';
		const char *next = is_wrong ? text + 1 : g_utf8_next_char(text);
		if (is_wrong || is_sign || !lode_is_printable(character)) {
			put(self, start, (size_t)(text - start));
			start = next;
			if (is_wrong && self->keeps_bytes)
				put(self, text, 1);
			else if (is_wrong)
				put_text(self, "\xef\xbf\xbd");
			else if (is_sign)
				put_text(self, character == '"' ? "\\\"" : "\\\\");
			else
				put_code(self, character);
		}
		text = next;
	}
	put(self, start, (size_t)(text - start));
}

void lode_json_key(LodeJsonStream *self, const char *name)
{
	separate(self);
	put(self, "\"", 1);
	put_escaped(self, name);
	put(self, "\":", 2);
	self->after_key = true;
}

void lode_json_string(LodeJsonStream *self, const char *value)
{
	separate(self);
	if (value == NULL) {
		put_text(self, "null");
		return;
	}
	put(self, "\"", 1);
	put_escaped(self, value);
	put(self, "\"", 1);
}

void lode_json_number(LodeJsonStream *self, double value)
{
	separate(self);
	put_text(self, isfinite(value) ? LODE_EXACT_TEXT(value) : "null");
}

void lode_json_integer(LodeJsonStream *self, uint64_t value)
{
	char buffer[24];

	separate(self);
	g_snprintf(buffer, sizeof(buffer), "%" G_GUINT64_FORMAT, value);
	put_text(self, buffer);
}

void lode_json_bool(LodeJsonStream *self, bool value)
{
	separate(self);
	put_text(self, value ? "true" : "false");
}

void lode_json_address(LodeJsonStream *self, uint64_t value)
{
	lode_json_string(self, LODE_ADDRESS_TEXT(value));
}

void lode_json_member_string(LodeJsonStream *self, const char *name, const char *value)
{
	lode_json_key(self, name);
	lode_json_string(self, value);
}

void lode_json_member_address(LodeJsonStream *self, const char *name, uint64_t value)
{
	lode_json_key(self, name);
	lode_json_address(self, value);
}

void lode_json_member_number(LodeJsonStream *self, const char *name, double value)
{
	lode_json_key(self, name);
	lode_json_number(self, value);
}

void lode_json_member_bool(LodeJsonStream *self, const char *name, bool value)
{
	lode_json_key(self, name);
	lode_json_bool(self, value);
}

void lode_json_member_begin(LodeJsonStream *self, const char *name, char bracket)
{
	lode_json_key(self, name);
	lode_json_begin(self, bracket);
}

void lode_json_line_begin(LodeJsonStream *self, char bracket)
{
	lode_json_line(self);
	lode_json_begin(self, bracket);
}

void lode_json_strings(LodeJsonStream *self, const GPtrArray *strings)
{
	lode_json_begin(self, '[');
	for (guint i = 0; strings != NULL && i < strings->len; i++)
		lode_json_string(self, strings->pdata[i]);
	lode_json_end(self, ']');
}
