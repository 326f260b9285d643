/* SPDX-License-Identifier: MIT */
/*
 * The flat program of an expression, for a stack machine:
 *
 *   weight > 2 && has(type)     ATTRIBUTE weight · CONSTANT 2 · GREATER · SKIP_UNLESS →end
 *                               · ATTRIBUTE type · HAS · TRUTH · end
 */
#pragma once

#include "analyses/memory/expression.h"
#include "analyses/memory/expression_tree.h"

enum {
	/* Beyond the operators of the tree; IN, RANGE, AND, OR and CONDITIONAL are not used. */
	LODE_STEP_SKIP_UNLESS = LODE_N_OPERATORS, /* true: drop it; else leave false and jump */
	LODE_STEP_SKIP_IF,                        /* true: leave it and jump; else drop it */
	LODE_STEP_BRANCH,                         /* drop it; jump unless it was true */
	LODE_STEP_JUMP,
	LODE_STEP_TRUTH,   /* none becomes false */
	LODE_STEP_TO_REAL, /* of a whole number */
	LODE_STEP_FALSE,
	LODE_STEP_IS_ITEM,      /* subject, found, item → subject, found or equal */
	LODE_STEP_IS_BETWEEN,   /* subject, found, least, most → subject, found or between */
	LODE_STEP_DROP_SUBJECT, /* subject, found → found */
};

enum { LODE_EXPRESSION_MAX_STACK = 512 };

typedef struct {
	uint32_t step;     /* LodeOperator or LODE_STEP_… */
	uint32_t argument; /* attribute, constant, pattern, or where to jump */
} LodeStep;

struct LodeExpression {
	GArray *steps;       /* LodeStep */
	GArray *constants;   /* LodeValue */
	GPtrArray *patterns; /* GRegex */
	GStringChunk *strings;
	LodeValueKind kind;
	bool is_hex;
	int attribute; /* the only one; −1 */
};

/* Copies what it needs of the tree. NULL when the stack would not do. */
LodeExpression *lode_expression_compile(const LodeExpressionNode *root);
