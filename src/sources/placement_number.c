/* SPDX-License-Identifier: MIT */
#include "sources/placement_number.h"

#include <string.h>

enum { MAX_DEPTH = 64 };

/* Wide enough for every address and its negative. */
__extension__ typedef __int128 Wide;

typedef struct {
	LodePlacementTokens *tokens;
	unsigned depth; /* of parentheses and signs */
	GError **error;
} Parser;

static bool parse_infix(Parser *self, unsigned level, Wide *out_value);

static bool is_sign(const Parser *self, const char *signs)
{
	const LodePlacementToken *token = lode_placement_tokens_at(self->tokens);

	return token->kind == LODE_PLACEMENT_TOKEN_SIGN && strchr(signs, *token->text) != NULL;
}

static bool parse_variable(Parser *self, Wide *out_value)
{
	const LodePlacementToken *token = lode_placement_tokens_at(self->tokens);
	const char *value = g_getenv(token->text);
	guint64 number;

	if (value == NULL)
		return lode_placement_tokens_fail(self->tokens, token, self->error,
			"the variable '%s' is not set in the environment", token->text);
	bool is_negative = *value == '-';
	const char *digits = value + is_negative;
	bool is_hexadecimal = g_ascii_strncasecmp(digits, "0x", 2) == 0;
	if (!g_ascii_string_to_unsigned(digits + (is_hexadecimal ? 2 : 0), is_hexadecimal ? 16 : 10,
		    0, UINT64_MAX, &number, NULL))
		return lode_placement_tokens_fail(self->tokens, token, self->error,
			"the variable '%s' is '%s', expected a number", token->text, value);
	*out_value = is_negative ? -(Wide)number : (Wide)number;
	return lode_placement_tokens_next(self->tokens, self->error);
}

static bool parse_factor(Parser *self, Wide *out_value)
{
	const LodePlacementToken *token = lode_placement_tokens_at(self->tokens);
	bool is_end = token->kind == LODE_PLACEMENT_TOKEN_END;

	if (token->kind == LODE_PLACEMENT_TOKEN_NUMBER) {
		*out_value = (Wide)token->number;
		return lode_placement_tokens_next(self->tokens, self->error);
	}
	if (token->kind == LODE_PLACEMENT_TOKEN_VARIABLE)
		return parse_variable(self, out_value);
	if (!is_sign(self, "(+-"))
		return lode_placement_tokens_fail(self->tokens, token, self->error,
			"%s%s%s, expected a number", is_end ? "the command ends" : "'",
			is_end ? "" : token->text, is_end ? "" : "'");
	if (self->depth == MAX_DEPTH)
		return lode_placement_tokens_fail(self->tokens, token, self->error,
			"more than %d parentheses and signs inside each other", MAX_DEPTH);
	bool is_parenthesis = is_sign(self, "("), is_negative = is_sign(self, "-");
	self->depth++;
	if (!lode_placement_tokens_next(self->tokens, self->error) ||
		!(is_parenthesis ? parse_infix(self, 0, out_value) : parse_factor(self, out_value)))
		return false;
	self->depth--;
	if (is_negative)
		*out_value = -*out_value;
	if (is_parenthesis && !is_sign(self, ")"))
		return lode_placement_tokens_fail(self->tokens,
			lode_placement_tokens_at(self->tokens), self->error, "expected ')'");
	return !is_parenthesis || lode_placement_tokens_next(self->tokens, self->error);
}

/* Applies one operator; false: it has no result. The smallest value has no negative: kept out. */
static bool apply(char sign, Wide a, Wide b, Wide *out_value)
{
	const Wide limit = (Wide)1 << 100;
	bool is_lost = false;

	if (sign == '+')
		is_lost = __builtin_add_overflow(a, b, out_value);
	else if (sign == '-')
		is_lost = __builtin_sub_overflow(a, b, out_value);
	else if (sign == '*')
		is_lost = __builtin_mul_overflow(a, b, out_value);
	else if (b == 0)
		return false;
	else
		*out_value = sign == '/' ? a / b : a % b;
	return !is_lost && -limit < *out_value && *out_value < limit;
}

/* Operands joined by the signs of a level, from the left; later levels bind tighter. */
static bool parse_infix(Parser *self, unsigned level, Wide *out_value)
{
	static const char *const signs[] = {"+-", "*/%"};
	Wide value, right;

	if (level == G_N_ELEMENTS(signs))
		return parse_factor(self, out_value);
	if (!parse_infix(self, level + 1, &value))
		return false;
	while (is_sign(self, signs[level])) {
		/* A copy: its text is gone with the next token. */
		LodePlacementToken sign = *lode_placement_tokens_at(self->tokens);
		char character = *sign.text;
		if (!lode_placement_tokens_next(self->tokens, self->error) ||
			!parse_infix(self, level + 1, &right))
			return false;
		if (!apply(character, value, right, &value))
			return lode_placement_tokens_fail(self->tokens, &sign, self->error, "%s",
				right == 0 ? "a division by zero" : "too large a number");
	}
	*out_value = value;
	return true;
}

static bool parse(LodePlacementTokens *tokens, Wide *out_value, GError **error)
{
	Parser parser = {.tokens = tokens, .error = error};

	return parse_infix(&parser, 0, out_value);
}

bool lode_placement_number_parse(LodePlacementTokens *tokens, const char *what, uint64_t min,
	uint64_t max, uint64_t *out_value, GError **error)
{
	LodePlacementToken start = *lode_placement_tokens_at(tokens);
	Wide value;

	if (!parse(tokens, &value, error))
		return false;
	if (value >= (Wide)min && value <= (Wide)max) {
		*out_value = (uint64_t)value;
		return true;
	}
	bool is_shown = value >= -(Wide)INT64_MAX && value <= (Wide)INT64_MAX;
	g_autofree char *shown = is_shown ? g_strdup_printf("%" G_GINT64_FORMAT, (int64_t)value)
	                                  : g_strdup("a number of more than 63 bits");
	return lode_placement_tokens_fail(tokens, &start, error,
		"%s: %s, expected %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, what, shown, min,
		max);
}

bool lode_placement_number_parse_step(
	LodePlacementTokens *tokens, int64_t *out_value, GError **error)
{
	LodePlacementToken start = *lode_placement_tokens_at(tokens);
	Wide value;

	if (!parse(tokens, &value, error))
		return false;
	if (value == 0)
		return lode_placement_tokens_fail(tokens, &start, error, "the step must not be 0");
	if (value > INT32_MAX || value < -(Wide)INT32_MAX)
		return lode_placement_tokens_fail(
			tokens, &start, error, "a step of more than 2^31");
	*out_value = (int64_t)value;
	return true;
}
