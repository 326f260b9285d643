/* SPDX-License-Identifier: MIT */
/*
 * The language that chooses and groups samples: docs/reference/expressions.md.
 *
 *   function =~ "^parse" && latency > 100         which samples
 *   address >> 12 how they are grouped
 *
 * Text becomes a typed tree, the tree a flat program for a stack machine, which then runs for each
 * sample.
 */
#pragma once

#include "analyses/memory/expressions/expression_value.h"

typedef struct LodeExpressionScope LodeExpressionScope;
typedef struct LodeExpression LodeExpression;
typedef struct LodeEvaluator LodeEvaluator;

/* The attributes of a source, which is static, and definitions to come. Never NULL. */
LodeExpressionScope *lode_expression_scope_new(const LodeExpressionSource *source);
void lode_expression_scope_free(LodeExpressionScope *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeExpressionScope, lode_expression_scope_free)

/* Adds "NAME=EXPRESSION": from now on NAME is one more attribute. Errors: _USAGE. */
bool lode_expression_scope_define(
	LodeExpressionScope *self, const char *definition, GError **error);

/* The same for each of a NULL-terminated list, or NULL; errors begin with "--define". */
bool lode_expression_scope_define_all(
	LodeExpressionScope *self, const char *const *definitions, GError **error);

/* Needs the scope no longer. Errors: _USAGE, three lines with a mark below the column. */
LodeExpression *lode_expression_new(
	const char *text, const LodeExpressionScope *scope, GError **error);
void lode_expression_free(LodeExpression *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeExpression, lode_expression_free)

/* The kind of the values that are not none. */
LodeValueKind lode_expression_kind(const LodeExpression *self);
/* Whether its whole numbers are shown as addresses. */
bool lode_expression_is_hex(const LodeExpression *self);
/* The number of the attribute that is all of it; -1 when it is more than that. */
int lode_expression_attribute(const LodeExpression *self);
/* Whether it contains an attribute, by its number. */
bool lode_expression_has_attribute(const LodeExpression *self, int attribute);

/* Both must outlive the result, which is for one thread. `attributes` are for the source. */
LodeEvaluator *lode_evaluator_new(const LodeExpression *expression, const void *attributes);
void lode_evaluator_free(LodeEvaluator *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeEvaluator, lode_evaluator_free)

/* `sample` is one of the source's. Text in *out_value lives as long as the expression and the
 * attributes do. Errors: _LIMIT when a pattern needs too many steps. */
bool lode_evaluator_run(
	LodeEvaluator *self, const void *sample, LodeValue *out_value, GError **error);
