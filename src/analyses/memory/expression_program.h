/* SPDX-License-Identifier: MIT */
/* From a typed tree to a program, which expression.h runs. Private to analyses/memory/. */
#pragma once

#include "analyses/memory/expression.h"
#include "analyses/memory/expression_tree.h"

/* Copies the needed parts of the tree. NULL if the stack would be too small. */
LodeExpression *lode_expression_compile(const LodeExpressionNode *root);
