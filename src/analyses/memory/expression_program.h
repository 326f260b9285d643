/* SPDX-License-Identifier: MIT */
/* From a typed tree to a program, which expression.h runs. Private to analyses/memory/. */
#pragma once

#include "analyses/memory/expression.h"
#include "analyses/memory/expression_tree.h"

/* Copies what it needs of the tree. NULL when the stack would not do. */
LodeExpression *lode_expression_compile(const LodeExpressionNode *root);
