/* SPDX-License-Identifier: MIT */
/*
 * Which operands an operator takes, and what it gives. Types are checked here once, before the
 * first sample: the machine that runs the expression trusts them.
 */
#include "analyses/memory/expressions/expression_fault.h"
#include "analyses/memory/expressions/expression_tree.h"

typedef enum { TAKES_NUMBERS, TAKES_INTEGERS, TAKES_CONDITIONS, TAKES_TEXT, TAKES_ANY } Takes;
typedef enum { GIVES_NUMBER, GIVES_INTEGER, GIVES_CONDITION, GIVES_TEXT } Gives;

/* The types that all operands must have; comparisons also check their pairs. */
static const struct {
	Takes takes;
	Gives gives;
} rules[LODE_N_OPERATORS] = {
	[LODE_OPERATOR_NEGATE] = {TAKES_NUMBERS, GIVES_NUMBER},
	[LODE_OPERATOR_COMPLEMENT] = {TAKES_INTEGERS, GIVES_INTEGER},
	[LODE_OPERATOR_NOT] = {TAKES_CONDITIONS, GIVES_CONDITION},
	[LODE_OPERATOR_HAS] = {TAKES_ANY, GIVES_CONDITION},
	[LODE_OPERATOR_BASENAME] = {TAKES_TEXT, GIVES_TEXT},
	[LODE_OPERATOR_ADD] = {TAKES_NUMBERS, GIVES_NUMBER},
	[LODE_OPERATOR_SUBTRACT] = {TAKES_NUMBERS, GIVES_NUMBER},
	[LODE_OPERATOR_MULTIPLY] = {TAKES_NUMBERS, GIVES_NUMBER},
	[LODE_OPERATOR_DIVIDE] = {TAKES_NUMBERS, GIVES_NUMBER},
	[LODE_OPERATOR_MODULO] = {TAKES_INTEGERS, GIVES_INTEGER},
	[LODE_OPERATOR_SHIFT_LEFT] = {TAKES_INTEGERS, GIVES_INTEGER},
	[LODE_OPERATOR_SHIFT_RIGHT] = {TAKES_INTEGERS, GIVES_INTEGER},
	[LODE_OPERATOR_BIT_AND] = {TAKES_INTEGERS, GIVES_INTEGER},
	[LODE_OPERATOR_BIT_OR] = {TAKES_INTEGERS, GIVES_INTEGER},
	[LODE_OPERATOR_BIT_XOR] = {TAKES_INTEGERS, GIVES_INTEGER},
	[LODE_OPERATOR_EQUAL] = {TAKES_ANY, GIVES_CONDITION},
	[LODE_OPERATOR_NOT_EQUAL] = {TAKES_ANY, GIVES_CONDITION},
	[LODE_OPERATOR_LESS] = {TAKES_ANY, GIVES_CONDITION},
	[LODE_OPERATOR_LESS_EQUAL] = {TAKES_ANY, GIVES_CONDITION},
	[LODE_OPERATOR_GREATER] = {TAKES_ANY, GIVES_CONDITION},
	[LODE_OPERATOR_GREATER_EQUAL] = {TAKES_ANY, GIVES_CONDITION},
	[LODE_OPERATOR_MATCH] = {TAKES_TEXT, GIVES_CONDITION},
	[LODE_OPERATOR_NO_MATCH] = {TAKES_TEXT, GIVES_CONDITION},
	[LODE_OPERATOR_AND] = {TAKES_CONDITIONS, GIVES_CONDITION},
	[LODE_OPERATOR_OR] = {TAKES_CONDITIONS, GIVES_CONDITION},
};

static const char *const takes_texts[] = {"numbers", "whole numbers", "conditions", "text", ""};

const char *lode_value_kind_text(LodeValueKind kind)
{
	static const char *const texts[] = {
		[LODE_VALUE_NONE] = "none",
		[LODE_VALUE_INTEGER] = "a number",
		[LODE_VALUE_REAL] = "a number",
		[LODE_VALUE_TEXT] = "text",
		[LODE_VALUE_BOOLEAN] = "a condition",
	};

	return texts[kind];
}

static bool is_number(LodeValueKind kind)
{
	return kind == LODE_VALUE_INTEGER || kind == LODE_VALUE_REAL;
}

static bool fits(Takes takes, LodeValueKind kind)
{
	switch (takes) {
	case TAKES_NUMBERS:
		return is_number(kind);
	case TAKES_INTEGERS:
		return kind == LODE_VALUE_INTEGER;
	case TAKES_CONDITIONS:
		return kind == LODE_VALUE_BOOLEAN;
	case TAKES_TEXT:
		return kind == LODE_VALUE_TEXT;
	case TAKES_ANY:
		break;
	}
	return true;
}

static bool check_operand(const LodeExpressionNode *operand, Takes takes, const char *sign,
	const char *text, GError **error)
{
	const char *is = operand->kind == LODE_VALUE_REAL && takes == TAKES_INTEGERS
	                         ? "a fraction"
	                         : lode_value_kind_text(operand->kind);
	g_autofree char *hint = NULL;

	if (fits(takes, operand->kind))
		return true;
	if (takes == TAKES_CONDITIONS && operand->kind != LODE_VALUE_NONE)
		hint = g_strdup("; compare it, or ask has(...)");
	if (takes == TAKES_TEXT && operand->text_twin != NULL)
		hint = g_strdup_printf("; '%s' is text", operand->text_twin);
	lode_expression_fault(error, text, operand->offset, "'%s' takes %s, and this is %s%s", sign,
		takes_texts[takes], is, hint != NULL ? hint : "");
	return false;
}

/* Whether two values can be equal at all; order needs more. */
static bool check_pair(const LodeExpressionNode *node, const LodeExpressionNode *left,
	const LodeExpressionNode *right, const char *sign, const char *text, GError **error)
{
	if (left->kind == LODE_VALUE_NONE || right->kind == LODE_VALUE_NONE) {
		lode_expression_fault(error, text, node->offset,
			"nothing compares with none; has(...) asks whether there is a value");
		return false;
	}
	if (left->kind == right->kind || (is_number(left->kind) && is_number(right->kind)))
		return true;
	lode_expression_fault(error, text, node->offset, "'%s' compares %s with %s", sign,
		lode_value_kind_text(left->kind), lode_value_kind_text(right->kind));
	return false;
}

static bool check_order(const LodeExpressionNode *node, const LodeExpressionNode *operand,
	const char *sign, const char *text, GError **error)
{
	if (operand->kind != LODE_VALUE_BOOLEAN)
		return true;
	lode_expression_fault(
		error, text, node->offset, "'%s' takes numbers or text, not conditions", sign);
	return false;
}

static bool check_comparison(
	const LodeExpressionNode *node, const char *sign, const char *text, GError **error)
{
	bool is_equality = node->op == LODE_OPERATOR_EQUAL || node->op == LODE_OPERATOR_NOT_EQUAL;

	return check_pair(node, node->operands[0], node->operands[1], sign, text, error) &&
	       (is_equality || check_order(node, node->operands[0], sign, text, error));
}

static bool check_items(
	const LodeExpressionNode *node, const char *sign, const char *text, GError **error)
{
	const LodeExpressionNode *subject = node->operands[0];

	for (const LodeExpressionNode *item = node->items; item != NULL; item = item->next) {
		if (item->op != LODE_OPERATOR_RANGE) {
			if (!check_pair(item, subject, item, sign, text, error))
				return false;
			continue;
		}
		if (!check_pair(item, subject, item->operands[0], sign, text, error) ||
			!check_pair(item, subject, item->operands[1], sign, text, error) ||
			!check_order(item, subject, "..", text, error))
			return false;
	}
	return true;
}

static bool check_branches(LodeExpressionNode *node, const char *text, GError **error)
{
	const LodeExpressionNode *yes = node->operands[1], *no = node->operands[2];

	if (!check_operand(node->operands[0], TAKES_CONDITIONS, "?", text, error))
		return false;
	node->kind = yes->kind != LODE_VALUE_NONE ? yes->kind : no->kind;
	if (yes->kind != no->kind && is_number(yes->kind) && is_number(no->kind))
		node->kind = LODE_VALUE_REAL;
	else if (yes->kind != no->kind && yes->kind != LODE_VALUE_NONE &&
		 no->kind != LODE_VALUE_NONE) {
		lode_expression_fault(error, text, node->offset,
			"'?' chooses between %s and %s, which do not go together",
			lode_value_kind_text(yes->kind), lode_value_kind_text(no->kind));
		return false;
	}
	node->is_hex = (yes->is_hex || yes->kind == LODE_VALUE_NONE) &&
	               (no->is_hex || no->kind == LODE_VALUE_NONE) &&
	               node->kind == LODE_VALUE_INTEGER;
	return true;
}

static bool check_operands(
	const LodeExpressionNode *node, const char *sign, const char *text, GError **error)
{
	for (size_t i = 0; i < G_N_ELEMENTS(node->operands) && node->operands[i] != NULL; i++)
		if (!check_operand(node->operands[i], rules[node->op].takes, sign, text, error))
			return false;
	if (node->op >= LODE_OPERATOR_EQUAL && node->op <= LODE_OPERATOR_GREATER_EQUAL)
		return check_comparison(node, sign, text, error);
	return true;
}

/* The difference of two addresses, and a part of one, are not addresses. */
static bool is_address(const LodeExpressionNode *node)
{
	const LodeExpressionNode *left = node->operands[0], *right = node->operands[1];

	switch (node->op) {
	case LODE_OPERATOR_ADD:
	case LODE_OPERATOR_BIT_OR:
		return left->is_hex || right->is_hex;
	case LODE_OPERATOR_SUBTRACT:
		return left->is_hex && !right->is_hex;
	case LODE_OPERATOR_BIT_AND:
	case LODE_OPERATOR_BIT_XOR:
	case LODE_OPERATOR_SHIFT_LEFT:
	case LODE_OPERATOR_SHIFT_RIGHT:
		return left->is_hex;
	default:
		return false;
	}
}

static void set_result(LodeExpressionNode *node)
{
	static const LodeValueKind kinds[] = {
		[GIVES_NUMBER] = LODE_VALUE_INTEGER,
		[GIVES_INTEGER] = LODE_VALUE_INTEGER,
		[GIVES_CONDITION] = LODE_VALUE_BOOLEAN,
		[GIVES_TEXT] = LODE_VALUE_TEXT,
	};

	node->kind = kinds[rules[node->op].gives];
	for (size_t i = 0; i < 2 && node->operands[i] != NULL; i++)
		if (rules[node->op].gives == GIVES_NUMBER &&
			node->operands[i]->kind == LODE_VALUE_REAL)
			node->kind = LODE_VALUE_REAL;
	node->is_hex = node->kind == LODE_VALUE_INTEGER && is_address(node);
}

static void add_extent(LodeExpressionNode *node, const LodeExpressionNode *part)
{
	node->depth = MAX(node->depth, part->depth + 1);
	/* Parts are limited: their sum stays far below the type's limit. */
	node->size += part->size;
}

static bool check_extent(LodeExpressionNode *node, const char *text, GError **error)
{
	node->depth = 1;
	node->size = 1;
	for (size_t i = 0; i < G_N_ELEMENTS(node->operands) && node->operands[i] != NULL; i++)
		add_extent(node, node->operands[i]);
	for (const LodeExpressionNode *item = node->items; item != NULL; item = item->next)
		add_extent(node, item);
	if (node->depth <= LODE_EXPRESSION_MAX_DEPTH && node->size <= LODE_EXPRESSION_MAX_SIZE)
		return true;
	lode_expression_fault(error, text, node->offset, "the expression is too large here");
	return false;
}

bool lode_expression_node_check(
	LodeExpressionNode *node, const char *sign, const char *text, GError **error)
{
	if (!check_extent(node, text, error))
		return false;
	switch (node->op) {
	case LODE_OPERATOR_CONSTANT:
	case LODE_OPERATOR_ATTRIBUTE:
		return true; /* the parser knows */
	case LODE_OPERATOR_RANGE:
		node->kind = node->operands[0]->kind;
		return true; /* checked with IN */
	case LODE_OPERATOR_IN:
		node->kind = LODE_VALUE_BOOLEAN;
		return check_items(node, sign, text, error);
	case LODE_OPERATOR_CONDITIONAL:
		return check_branches(node, text, error);
	default:
		if (!check_operands(node, sign, text, error))
			return false;
		set_result(node);
		return true;
	}
}
