/* SPDX-License-Identifier: MIT */
#include "sources/placement_tokens.h"

#include "base/error.h"
#include "sources/text_lines.h"

#include <string.h>

struct LodePlacementTokens {
	char *path;
	LodeTextLines *lines;
	const char *start, *at; /* in the line that was read last */
	LodePlacementToken token;
	GString *text; /* of the token */
};

LodePlacementTokens *lode_placement_tokens_open(const char *path, GError **error)
{
	LodeTextLines *lines = lode_text_lines_open(path, 0, NULL, error);

	if (lines == NULL)
		return NULL;
	LodePlacementTokens *self = g_new0(LodePlacementTokens, 1);
	self->path = g_strdup(path);
	self->lines = lines;
	self->start = self->at = "";
	self->text = g_string_new(NULL);
	self->token.text = self->text->str;
	return self;
}

void lode_placement_tokens_close(LodePlacementTokens *self)
{
	if (self == NULL)
		return;
	lode_text_lines_close(self->lines);
	g_string_free(self->text, TRUE);
	g_free(self->path);
	g_free(self);
}

bool lode_placement_tokens_fail(const LodePlacementTokens *self, const LodePlacementToken *token,
	GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error(error, LODE_ERROR, LODE_ERROR_CORRUPT,
		"%s: line %" G_GUINT64_FORMAT ", column %" G_GUINT64_FORMAT ": %s", self->path,
		token->line, token->column, message);
	return false;
}

const LodePlacementToken *lode_placement_tokens_at(const LodePlacementTokens *self)
{
	return &self->token;
}

/* Gives 1, 0 at the end of the file, −1 with an error. A NUL inside a line is not text. */
static int read_line(LodePlacementTokens *self, GError **error)
{
	const char *line;
	size_t length;
	int found = lode_text_lines_next(self->lines, &line, &length, error);

	self->start = self->at = found > 0 ? line : "";
	if (found <= 0 || memchr(line, '\0', length) == NULL)
		return found;
	lode_text_lines_error_at(self->lines, lode_text_lines_number(self->lines), error,
		LODE_ERROR_CORRUPT, "a NUL character, expected text");
	return -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void skip_blanks(LodePlacementTokens *self)
{
	while (is_blank(*self->at))
		self->at++;
}

/* Where a line ends with a backslash (blanks and a comment may follow it). */
static bool is_continuation(const char *at)
{
	if (*at != '\\')
		return false;
	for (at++; is_blank(*at);)
		at++;
	return *at == '\0' || *at == '#';
}

/* To the next token's first byte; a NUL there: the command's end. */
static bool skip_to_token(LodePlacementTokens *self, GError **error)
{
	skip_blanks(self);
	while (is_continuation(self->at)) {
		int found = read_line(self, error);
		if (found < 0)
			return false;
		skip_blanks(self);
		if (found == 0)
			break;
	}
	return true;
}

static void begin_token(LodePlacementTokens *self, LodePlacementTokenKind kind)
{
	self->token.kind = kind;
	self->token.line = lode_text_lines_number(self->lines);
	self->token.column = (uint64_t)(self->at - self->start) + 1;
	g_string_truncate(self->text, 0);
}

static void take_bytes(LodePlacementTokens *self, size_t n)
{
	g_string_append_len(self->text, self->at, (gssize)n);
	self->at += n;
}

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (g_ascii_isalnum(at[n]) || at[n] == '_')
		n++;
	return n;
}

static bool take_number(LodePlacementTokens *self, GError **error)
{
	begin_token(self, LODE_PLACEMENT_TOKEN_NUMBER);
	take_bytes(self, word_length(self->at));
	const char *text = self->text->str;
	bool is_hexadecimal = g_ascii_strncasecmp(text, "0x", 2) == 0;
	if (g_ascii_string_to_unsigned(text + (is_hexadecimal ? 2 : 0), is_hexadecimal ? 16 : 10, 0,
		    UINT64_MAX, &self->token.number, NULL))
		return true;
	return lode_placement_tokens_fail(
		self, &self->token, error, "'%s' is not a number below 2^64", text);
}

static bool take_variable(LodePlacementTokens *self, GError **error)
{
	begin_token(self, LODE_PLACEMENT_TOKEN_VARIABLE);
	self->at++;
	bool is_braced = *self->at == '{';
	self->at += is_braced;
	take_bytes(self, word_length(self->at));
	if (self->text->len == 0 || (is_braced && *self->at != '}'))
		return lode_placement_tokens_fail(
			self, &self->token, error, "'$', expected a variable such as $NAME");
	self->at += is_braced;
	return true;
}

static bool take_text(LodePlacementTokens *self, GError **error)
{
	begin_token(self, LODE_PLACEMENT_TOKEN_TEXT);
	for (self->at++; *self->at != '"'; self->at++) {
		if (*self->at == '\\' && self->at[1] != '\0')
			self->at++;
		if (*self->at == '\0')
			return lode_placement_tokens_fail(self, &self->token, error,
				"a quoted name does not end on its line");
		g_string_append_c(self->text, *self->at);
	}
	self->at++;
	return true;
}

static bool take_sign(LodePlacementTokens *self, GError **error)
{
	begin_token(self, LODE_PLACEMENT_TOKEN_SIGN);
	if (strchr("+-*/%():", *self->at) != NULL) {
		take_bytes(self, 1);
		return true;
	}
	if (g_ascii_isprint(*self->at))
		return lode_placement_tokens_fail(
			self, &self->token, error, "'%c' has no meaning here", *self->at);
	return lode_placement_tokens_fail(
		self, &self->token, error, "a byte that is not text (0x%02x)", (uint8_t)*self->at);
}

static bool take(LodePlacementTokens *self, GError **error)
{
	char c = *self->at;

	if (c == '\0' || c == '#')
		begin_token(self, LODE_PLACEMENT_TOKEN_END);
	else if (g_ascii_isdigit(c))
		return take_number(self, error);
	else if (c == '$')
		return take_variable(self, error);
	else if (c == '"')
		return take_text(self, error);
	else if (word_length(self->at) == 0)
		return take_sign(self, error);
	else {
		begin_token(self, LODE_PLACEMENT_TOKEN_WORD);
		take_bytes(self, word_length(self->at));
	}
	return true;
}

bool lode_placement_tokens_next(LodePlacementTokens *self, GError **error)
{
	bool is_taken = skip_to_token(self, error) && take(self, error);

	self->token.text = self->text->str;
	return is_taken;
}

bool lode_placement_tokens_next_name(LodePlacementTokens *self, GError **error)
{
	if (!skip_to_token(self, error))
		return false;
	bool is_plain = *self->at != '\0' && *self->at != '#' && *self->at != '"';
	if (!is_plain)
		return lode_placement_tokens_next(self, error);
	begin_token(self, LODE_PLACEMENT_TOKEN_NAME);
	while (*self->at != '\0' && !is_blank(*self->at))
		take_bytes(self, 1);
	self->token.text = self->text->str;
	return true;
}

int lode_placement_tokens_next_command(LodePlacementTokens *self, GError **error)
{
	for (;;) {
		int found = read_line(self, error);
		if (found <= 0)
			return found;
		if (!lode_placement_tokens_next(self, error))
			return -1;
		if (self->token.kind != LODE_PLACEMENT_TOKEN_END)
			return 1;
	}
}

char *lode_placement_tokens_skip_command(LodePlacementTokens *self, GError **error)
{
	g_autoptr(GString) passed = g_string_new(self->text->str);

	for (;;) {
		if (!skip_to_token(self, error))
			return NULL;
		if (*self->at == '\0' || *self->at == '#')
			break;
		g_string_append_c(passed, ' ');
		while (*self->at != '\0' && *self->at != '#' && !is_blank(*self->at))
			g_string_append_c(passed, *self->at++);
	}
	begin_token(self, LODE_PLACEMENT_TOKEN_END);
	self->token.text = self->text->str;
	return g_utf8_make_valid(passed->str, -1);
}
