/* SPDX-License-Identifier: MIT */
/* From a typed tree to a program, which expression.h runs. Private to analyses/memory/. */
#pragma once

#include "analyses/memory/expressions/expression.h"
#include "analyses/memory/expressions/expression_tree.h"

/* Copies the needed parts of the tree. NULL if the stack would be too small. */
LodeExpression *lode_expression_compile(
	const LodeExpressionNode *root, const LodeExpressionSource *source);
