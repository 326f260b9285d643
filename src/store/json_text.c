/* SPDX-License-Identifier: MIT */
#include "store/json_text.h"

#include <string.h>

void lode_json_cursor_init(LodeJsonCursor *self, const char *text)
{
	self->next = text;
	self->has_failed = false;
	if (self->text == NULL)
		self->text = g_string_new(NULL);
}

void lode_json_cursor_clear(LodeJsonCursor *self)
{
	if (self->text != NULL)
		g_string_free(self->text, TRUE);
	self->text = NULL;
}

static void skip_space(LodeJsonCursor *self)
{
	while (*self->next == ' ' || *self->next == '\t' || *self->next == '\n' ||
		*self->next == '\r')
		self->next++;
}

bool lode_json_cursor_accept(LodeJsonCursor *self, char symbol)
{
	skip_space(self);
	if (self->has_failed || *self->next != symbol)
		return false;
	self->next++;
	return true;
}

void lode_json_cursor_expect(LodeJsonCursor *self, char symbol)
{
	if (!lode_json_cursor_accept(self, symbol))
		self->has_failed = true;
}

bool lode_json_cursor_is_done(LodeJsonCursor *self)
{
	skip_space(self);
	return !self->has_failed && *self->next == '\0';
}

static bool read_code_unit(LodeJsonCursor *self, gunichar *out_unit)
{
	gunichar unit = 0;

	for (int i = 0; i < 4; i++) {
		int digit = g_ascii_xdigit_value(self->next[0]);
		if (digit < 0)
			return false;
		unit = unit * 16 + (gunichar)digit;
		self->next++;
	}
	*out_unit = unit;
	return true;
}

/* Reads the digits after "\u"; two units if the first is half of a pair. */
static void read_unicode(LodeJsonCursor *self)
{
	gunichar unit, low;

	if (!read_code_unit(self, &unit)) {
		self->has_failed = true;
		return;
	}
	if (unit >= 0xd800 && unit < 0xdc00 && self->next[0] == '\\' && self->next[1] == 'u') {
		self->next += 2;
		if (!read_code_unit(self, &low) || low < 0xdc00 || low > 0xdfff) {
			self->has_failed = true;
			return;
		}
		unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	}
	if (unit == 0 || (unit >= 0xd800 && unit < 0xe000))
		self->has_failed = true;
	else
		g_string_append_unichar(self->text, unit);
}

static void read_escape(LodeJsonCursor *self)
{
	static const char codes[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	char code = *self->next;
	const char *found = code != '\0' ? strchr(codes, code) : NULL;

	if (code != '\0')
		self->next++;
	if (found != NULL)
		g_string_append_c(self->text, plain[found - codes]);
	else if (code == 'u')
		read_unicode(self);
	else
		self->has_failed = true;
}

const char *lode_json_cursor_string(LodeJsonCursor *self)
{
	lode_json_cursor_expect(self, '"');
	g_string_truncate(self->text, 0);
	while (!self->has_failed) {
		size_t plain = strcspn(self->next, "\"\\");
		g_string_append_len(self->text, self->next, (gssize)plain);
		self->next += plain;
		if (*self->next == '"') {
			self->next++;
			return self->text->str;
		}
		if (*self->next == '\0') {
			self->has_failed = true;
			break;
		}
		self->next++;
		read_escape(self);
	}
	return NULL;
}

const char *lode_json_cursor_scalar(LodeJsonCursor *self, bool *out_is_string)
{
	skip_space(self);
	*out_is_string = *self->next == '"';
	if (*out_is_string)
		return lode_json_cursor_string(self);
	size_t length = strcspn(self->next, ",]}: \t\r\n\"[{");
	if (length == 0)
		self->has_failed = true;
	g_string_truncate(self->text, 0);
	g_string_append_len(self->text, self->next, (gssize)length);
	self->next += length;
	return strcmp(self->text->str, "null") == 0 ? NULL : self->text->str;
}
