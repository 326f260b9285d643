/* SPDX-License-Identifier: MIT */
/* From text to a typed tree. */
#pragma once

#include "analyses/memory/expression_tree.h"

/* The tree of a definition by its name, with the length of the name; NULL: there is none. */
typedef struct {
	const LodeExpressionNode *(*definition)(void *data, const char *name);
	GPtrArray *(*names)(void *data); /* of all, for "did you mean"; the caller unrefs it */
	void *data;                      /* of both */
} LodeNameSource;

/* Errors: _USAGE, with the column. */
LodeExpressionTree *lode_expression_parse(
	const char *text, const LodeNameSource *names, GError **error);

/* Whether the language itself uses the word: "in", "has", "none"… */
bool lode_expression_is_keyword(const char *word);
