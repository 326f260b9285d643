/* SPDX-License-Identifier: MIT */
/*
 * An expression as the parser leaves it, its types known:
 *
 *   weight > 2 && function =~ "^p"        AND ─┬─ GREATER ─┬─ ATTRIBUTE weight
 *                                              │           └─ CONSTANT 2
 *                                              └─ MATCH ^p ─── ATTRIBUTE function
 *
 * Private to analyses/memory/.
 */
#pragma once

#include "analyses/memory/expressions/expression_value.h"

#include <stddef.h>

typedef enum {
	LODE_OPERATOR_CONSTANT,
	LODE_OPERATOR_ATTRIBUTE,
	LODE_OPERATOR_NEGATE,
	LODE_OPERATOR_COMPLEMENT,
	LODE_OPERATOR_NOT,
	LODE_OPERATOR_HAS,
	LODE_OPERATOR_BASENAME,
	LODE_OPERATOR_ADD,
	LODE_OPERATOR_SUBTRACT,
	LODE_OPERATOR_MULTIPLY,
	LODE_OPERATOR_DIVIDE,
	LODE_OPERATOR_MODULO,
	LODE_OPERATOR_SHIFT_LEFT,
	LODE_OPERATOR_SHIFT_RIGHT,
	LODE_OPERATOR_BIT_AND,
	LODE_OPERATOR_BIT_OR,
	LODE_OPERATOR_BIT_XOR,
	LODE_OPERATOR_EQUAL,
	LODE_OPERATOR_NOT_EQUAL,
	LODE_OPERATOR_LESS,
	LODE_OPERATOR_LESS_EQUAL,
	LODE_OPERATOR_GREATER,
	LODE_OPERATOR_GREATER_EQUAL,
	LODE_OPERATOR_MATCH,
	LODE_OPERATOR_NO_MATCH,
	LODE_OPERATOR_IN,    /* operands[0], then a list of items */
	LODE_OPERATOR_RANGE, /* an item of IN: both ends belong to it */
	LODE_OPERATOR_AND,
	LODE_OPERATOR_OR,
	LODE_OPERATOR_CONDITIONAL,
	LODE_N_OPERATORS,
} LodeOperator;

enum {
	LODE_EXPRESSION_MAX_BYTES = 1 << 16,
	LODE_EXPRESSION_MAX_NESTING = 200,  /* of parentheses and the like in one expression */
	LODE_EXPRESSION_MAX_DEPTH = 1000,   /* of the tree, definitions put in */
	LODE_EXPRESSION_MAX_SIZE = 1 << 16, /* nodes, likewise */
};

typedef struct LodeExpression LodeExpression;
typedef struct LodeExpressionNode LodeExpressionNode;

struct LodeExpressionNode {
	LodeOperator op;
	LodeValueKind kind; /* of its values that are not none; NONE: the word "none" */
	bool is_hex;        /* an address, or made of one */
	uint32_t depth, size;
	size_t offset;         /* of its own token in the text */
	const char *text_twin; /* of an attribute: what it is shown as when grouped; else NULL */
	union {
		size_t attribute; /* number in the table */
		LodeValue constant;
	};
	GRegex *pattern; /* of MATCH and NO_MATCH; else NULL */
	LodeExpressionNode *operands[3];
	LodeExpressionNode *items, *next; /* of IN; the next item */
};

/* Gives a node its kind, depth and size by those of its operands; `text` is for the message, in
 * which `sign` names the operator. Errors: _USAGE, with the column. */
bool lode_expression_node_check(
	LodeExpressionNode *node, const char *sign, const char *text, GError **error);

/* "a number", "text", "a condition", "none". */
const char *lode_value_kind_text(LodeValueKind kind);

/* The program that expression.h runs: it copies what it needs of the tree. NULL if the stack would
 * be too small. */
LodeExpression *lode_expression_compile(
	const LodeExpressionNode *root, const LodeExpressionSource *source);
