/* SPDX-License-Identifier: MIT */
/*
 * Tokens are made one at a time, as the parser asks for them, so that an error in the text is
 * reported before one that comes after it.
 */
#include "analyses/memory/expressions/expression_lexer.h"

#include "analyses/memory/expressions/expression_fault.h"

#include <math.h>
#include <string.h>

static const char *const token_texts[LODE_N_TOKENS] = {
	[LODE_TOKEN_END] = "the end",
	[LODE_TOKEN_NAME] = "a name",
	[LODE_TOKEN_NUMBER] = "a number",
	[LODE_TOKEN_STRING] = "text",
	[LODE_TOKEN_OPEN] = "(",
	[LODE_TOKEN_CLOSE] = ")",
	[LODE_TOKEN_COMMA] = ",",
	[LODE_TOKEN_RANGE] = "..",
	[LODE_TOKEN_QUESTION] = "?",
	[LODE_TOKEN_COLON] = ":",
	[LODE_TOKEN_OR] = "||",
	[LODE_TOKEN_AND] = "&&",
	[LODE_TOKEN_NOT] = "!",
	[LODE_TOKEN_EQUAL] = "==",
	[LODE_TOKEN_NOT_EQUAL] = "!=",
	[LODE_TOKEN_LESS] = "<",
	[LODE_TOKEN_LESS_EQUAL] = "<=",
	[LODE_TOKEN_GREATER] = ">",
	[LODE_TOKEN_GREATER_EQUAL] = ">=",
	[LODE_TOKEN_MATCH] = "=~",
	[LODE_TOKEN_NO_MATCH] = "!~",
	[LODE_TOKEN_BIT_OR] = "|",
	[LODE_TOKEN_BIT_XOR] = "^",
	[LODE_TOKEN_BIT_AND] = "&",
	[LODE_TOKEN_SHIFT_LEFT] = "<<",
	[LODE_TOKEN_SHIFT_RIGHT] = ">>",
	[LODE_TOKEN_PLUS] = "+",
	[LODE_TOKEN_MINUS] = "-",
	[LODE_TOKEN_TIMES] = "*",
	[LODE_TOKEN_DIVIDE] = "/",
	[LODE_TOKEN_MODULO] = "%",
	[LODE_TOKEN_COMPLEMENT] = "~",
};

const char *lode_expression_token_text(LodeTokenKind kind)
{
	return token_texts[kind];
}

typedef struct {
	const char *text;
	double factor;
} Suffix;

/* Powers of 1024, and nanoseconds. */
static const Suffix suffixes[] = {
	{"K", 1024.0},
	{"M", 1048576.0},
	{"G", 1073741824.0},
	{"T", 1099511627776.0},
	{"ns", 1},
	{"us", 1e3},
	{"ms", 1e6},
	{"s", 1e9},
};

static bool is_name_start(char c)
{
	return g_ascii_isalpha(c) || c == '_';
}

static bool is_name_part(char c)
{
	return g_ascii_isalnum(c) || c == '_';
}

/* Whole numbers with one of the bases; false when it leaves 64 bits. */
static bool read_integer(const char **at, unsigned base, uint64_t *out_value)
{
	uint64_t value = 0;
	bool fits = true;

	for (; g_ascii_isxdigit(**at) && (unsigned)g_ascii_xdigit_value(**at) < base; (*at)++) {
		fits = fits && g_uint64_checked_mul(&value, value, base) &&
		       g_uint64_checked_add(&value, value, (unsigned)g_ascii_xdigit_value(**at));
	}
	*out_value = value;
	return fits;
}

/* Past the fraction and exponent, or NULL when there is neither. "5..9" is a range. */
static const char *end_of_real(const char *digits_end)
{
	const char *at = digits_end;

	if (at[0] == '.' && g_ascii_isdigit(at[1]))
		for (at++; g_ascii_isdigit(*at);)
			at++;
	if (*at == 'e' || *at == 'E') {
		const char *exponent = at + 1;
		if (*exponent == '+' || *exponent == '-')
			exponent++;
		while (g_ascii_isdigit(*exponent))
			at = ++exponent;
	}
	return at != digits_end ? at : NULL;
}

static const char *read_number(const char *at, LodeValue *out_value)
{
	const char *start = at;
	unsigned base = at[0] == '0' && (at[1] == 'x' || at[1] == 'X')   ? 16
	                : at[0] == '0' && (at[1] == 'b' || at[1] == 'B') ? 2
	                                                                 : 10;
	uint64_t integer;

	at += base != 10 ? 2 : 0;
	const char *digits = at;
	bool fits = read_integer(&at, base, &integer);
	const char *real_end = base == 10 ? end_of_real(at) : NULL;
	if (real_end != NULL) {
		*out_value = lode_value_of_real(g_ascii_strtod(start, NULL));
		return real_end;
	}
	*out_value = fits && at > digits ? lode_value_of_integer(integer) : lode_value_none();
	return at;
}

static LodeValue scaled(LodeValue value, double factor)
{
	if (value.kind == LODE_VALUE_INTEGER)
		return lode_value_of_integer(value.integer * (LodeInteger)factor);
	if (value.kind == LODE_VALUE_REAL)
		return lode_value_of_real(value.real * factor);
	return value;
}

/* Past the suffix; `at` itself when there is none. NULL when it is unknown. */
static const char *read_suffix(const char *at, LodeValue *value)
{
	const char *end = at;

	while (is_name_part(*end))
		end++;
	if (end == at)
		return at;
	for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		if (strlen(suffixes[i].text) != (size_t)(end - at) ||
			strncmp(suffixes[i].text, at, (size_t)(end - at)) != 0)
			continue;
		*value = scaled(*value, suffixes[i].factor);
		return end;
	}
	return NULL;
}

static bool lex_number(const char *text, LodeToken *token, GError **error)
{
	const char *start = text + token->offset;
	const char *digits_end = read_number(start, &token->number);
	const char *end = read_suffix(digits_end, &token->number);

	if (end == NULL) {
		lode_expression_fault(error, text, (size_t)(digits_end - text),
			"a number may end with K, M, G, T, ns, us, ms or s");
		return false;
	}
	if (token->number.kind == LODE_VALUE_NONE) {
		lode_expression_fault(
			error, text, token->offset, "neither a number of 64 bits nor a fraction");
		return false;
	}
	token->kind = LODE_TOKEN_NUMBER;
	token->length = (size_t)(end - start);
	return true;
}

static bool lex_string(const char *text, LodeToken *token, GError **error)
{
	const char *start = text + token->offset, *at = start + 1;

	while (*at != '\0' && *at != *start)
		at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
	if (*at == '\0') {
		lode_expression_fault(
			error, text, token->offset, "no %c ends the text that begins here", *start);
		return false;
	}
	token->kind = LODE_TOKEN_STRING;
	token->length = (size_t)(at + 1 - start);
	return true;
}

/* The longest sign that fits: "<=" is not "<" and "=". */
static bool lex_sign(const char *text, LodeToken *token, GError **error)
{
	const char *at = text + token->offset;

	token->length = 0;
	for (int kind = LODE_TOKEN_OPEN; kind < LODE_N_TOKENS; kind++) {
		size_t length = strlen(token_texts[kind]);
		if (length > token->length && strncmp(at, token_texts[kind], length) == 0) {
			token->kind = (LodeTokenKind)kind;
			token->length = length;
		}
	}
	if (token->length > 0)
		return true;
	if (*at == '=')
		lode_expression_fault(
			error, text, token->offset, "'=' is not an operator; equality is '=='");
	else
		lode_expression_fault(
			error, text, token->offset, "nothing in an expression begins like this");
	return false;
}

bool lode_expression_next_token(
	const char *text, size_t offset, LodeToken *out_token, GError **error)
{
	LodeToken token = {.kind = LODE_TOKEN_END, .number = lode_value_none()};
	bool is_good = true;

	while (g_ascii_isspace(text[offset]))
		offset++;
	token.offset = offset;
	if (is_name_start(text[offset])) {
		token.kind = LODE_TOKEN_NAME;
		while (is_name_part(text[offset + token.length]))
			token.length++;
	} else if (g_ascii_isdigit(text[offset])) {
		is_good = lex_number(text, &token, error);
	} else if (text[offset] == '"' || text[offset] == '\'') {
		is_good = lex_string(text, &token, error);
	} else if (text[offset] != '\0') {
		is_good = lex_sign(text, &token, error);
	}
	if (is_good)
		*out_token = token;
	return is_good;
}

bool lode_expression_number_from_text(const char *text, LodeValue *out_value)
{
	LodeValue value;

	if (!g_ascii_isdigit(text[0]))
		return false;
	const char *end = read_suffix(read_number(text, &value), &value);
	if (end == NULL || *end != '\0' || value.kind == LODE_VALUE_NONE)
		return false;
	*out_value = value;
	return true;
}

/* A backslash is for the quote and for itself; before anything else it stays, for patterns. */
char *lode_expression_token_string(const char *text, const LodeToken *token)
{
	g_autoptr(GString) string = g_string_new(NULL);
	const char *at = text + token->offset, *end = at + token->length - 1;
	char quote = *at++;

	for (; at < end; at++) {
		if (*at == '\\' && (at[1] == quote || at[1] == '\\') && at + 1 < end)
			at++;
		g_string_append_c(string, *at);
	}
	return g_string_free(g_steal_pointer(&string), FALSE);
}
