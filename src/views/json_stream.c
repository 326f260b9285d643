/* SPDX-License-Identifier: MIT */
/* JSON written as it is made. */
#include "views/json_stream.h"

#include "base/number_format.h"

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
	uint32_t bit = UINT32_C(1) << self->depth;

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
	self->has_item &= ~(UINT32_C(1) << self->depth);
}

void lode_json_end(LodeJsonStream *self, char bracket)
{
	g_assert(self->depth > 0);
	self->depth--;
	put(self, &bracket, 1);
	if (self->depth == 0)
		put(self, "\n", 1);
}

void lode_json_line(LodeJsonStream *self)
{
	uint32_t bit = UINT32_C(1) << self->depth;

	/* The comma belongs before the line's end; the item then needs none. */
	if ((self->has_item & bit) != 0)
		put(self, ",", 1);
	self->has_item &= ~bit;
	put(self, "\n", 1);
}

/* Copies runs of plain bytes whole and escapes what lies between. */
static void put_escaped(LodeJsonStream *self, const char *text)
{
	const char *start = text;

	while (*text != '\0') {
		unsigned char byte = (unsigned char)*text;
		char escape[8] = "";
		gunichar character = byte;
		if (byte >= 0x80)
			character = g_utf8_get_char_validated(text, -1);
		size_t length = 1;
		if (character == (gunichar)-1 || character == (gunichar)-2)
			g_strlcpy(escape, "\xef\xbf\xbd", sizeof(escape));
		else if (character == '"' || character == '\\')
			g_snprintf(escape, sizeof(escape), "\\%c", (char)character);
		else if (character < 0x20 || (character >= 0x7f && character < 0xa0))
			g_snprintf(escape, sizeof(escape), "\\u%04x", character);
		if (escape[0] == '\0') {
			text = g_utf8_next_char(text);
			continue;
		}
		if (character >= 0x80 && character < 0xa0)
			length = 2;
		put(self, start, (size_t)(text - start));
		put_text(self, escape);
		text += length;
		start = text;
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
	char buffer[LODE_NUMBER_SIZE];

	separate(self);
	put_text(self, isfinite(value) ? lode_number_format_exact(value, buffer) : "null");
}

void lode_json_member_string(LodeJsonStream *self, const char *name, const char *value)
{
	lode_json_key(self, name);
	lode_json_string(self, value);
}

void lode_json_member_number(LodeJsonStream *self, const char *name, double value)
{
	lode_json_key(self, name);
	lode_json_number(self, value);
}

void lode_json_member_bool(LodeJsonStream *self, const char *name, bool value)
{
	lode_json_key(self, name);
	separate(self);
	put_text(self, value ? "true" : "false");
}
