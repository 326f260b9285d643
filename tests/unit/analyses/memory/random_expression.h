/* SPDX-License-Identifier: MIT */
/* The same random expression in lode's language and in SQL, for what both can say. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum { RANDOM_INTEGER, RANDOM_REAL, RANDOM_TEXT, RANDOM_CONDITION } RandomKind;

typedef struct {
	char *lode, *sql;
	int level; /* of lode's operator, by the documentation; 99: none */
} RandomExpression;

/* Written with as few parentheses as the documented precedence asks for, or now and then more. */
RandomExpression random_expression(GRand *rand, RandomKind kind, int depth);
void random_expression_clear(RandomExpression *self);

/* What its attributes are, NULL-terminated: the columns of a table for the SQL. */
extern const char *const random_expression_attributes[];
