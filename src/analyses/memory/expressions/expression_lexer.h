/* SPDX-License-Identifier: MIT */
/* The words of an expression: docs/reference/expressions.md. */
#pragma once

#include "analyses/memory/expressions/expression_value.h"

#include <stddef.h>

typedef enum {
	LODE_TOKEN_END,
	LODE_TOKEN_NAME,
	LODE_TOKEN_NUMBER,
	LODE_TOKEN_STRING,
	/* From here on the signs, in the order of lode_expression_token_text(). */
	LODE_TOKEN_OPEN,
	LODE_TOKEN_CLOSE,
	LODE_TOKEN_COMMA,
	LODE_TOKEN_RANGE,
	LODE_TOKEN_QUESTION,
	LODE_TOKEN_COLON,
	LODE_TOKEN_OR,
	LODE_TOKEN_AND,
	LODE_TOKEN_NOT,
	LODE_TOKEN_EQUAL,
	LODE_TOKEN_NOT_EQUAL,
	LODE_TOKEN_LESS,
	LODE_TOKEN_LESS_EQUAL,
	LODE_TOKEN_GREATER,
	LODE_TOKEN_GREATER_EQUAL,
	LODE_TOKEN_MATCH,
	LODE_TOKEN_NO_MATCH,
	LODE_TOKEN_BIT_OR,
	LODE_TOKEN_BIT_XOR,
	LODE_TOKEN_BIT_AND,
	LODE_TOKEN_SHIFT_LEFT,
	LODE_TOKEN_SHIFT_RIGHT,
	LODE_TOKEN_PLUS,
	LODE_TOKEN_MINUS,
	LODE_TOKEN_TIMES,
	LODE_TOKEN_DIVIDE,
	LODE_TOKEN_MODULO,
	LODE_TOKEN_COMPLEMENT,
	LODE_N_TOKENS,
} LodeTokenKind;

typedef struct {
	LodeTokenKind kind;
	size_t offset, length; /* bytes of the expression */
	LodeValue number;
} LodeToken;

/* The token that begins at or after byte `offset` of `text`, which is UTF-8. Errors: _USAGE, with
 * the column. */
bool lode_expression_next_token(
	const char *text, size_t offset, LodeToken *out_token, GError **error);

/* A number literal alone ("0x7f00", "4K", "1.5ms"), for options that take numbers; false for
 * anything else. */
bool lode_expression_number_from_text(const char *text, LodeValue *out_value);

/* The sign itself ("&&"); "a name", "a number", "text", "the end" of the others. */
const char *lode_expression_token_text(LodeTokenKind kind);

/* The text of a string token, without its quotes; free with g_free(). */
char *lode_expression_token_string(const char *text, const LodeToken *token);
