/* SPDX-License-Identifier: MIT */
#include "analyses/memory/expressions/expression_value.h"

#include "base/arrays/hash.h"
#include "base/text/number_format.h"

#include <math.h>
#include <string.h>

LodeValue lode_value_of_real(double real)
{
	if (!isfinite(real))
		return lode_value_none();
	return (LodeValue){.kind = LODE_VALUE_REAL, .real = real};
}

double lode_value_to_double(const LodeValue *self)
{
	return self->kind == LODE_VALUE_INTEGER ? (double)self->integer : self->real;
}

/* The order of values of different kinds, which are never compared by value; numbers share a rank.
 */
static int rank(LodeValueKind kind)
{
	static const int ranks[] = {
		[LODE_VALUE_NONE] = 0,
		[LODE_VALUE_BOOLEAN] = 1,
		[LODE_VALUE_INTEGER] = 2,
		[LODE_VALUE_REAL] = 2,
		[LODE_VALUE_TEXT] = 3,
	};

	return ranks[kind];
}

int lode_value_compare(const LodeValue *left, const LodeValue *right)
{
	if (rank(left->kind) != rank(right->kind))
		return rank(left->kind) < rank(right->kind) ? -1 : 1;
	if (left->kind == LODE_VALUE_NONE)
		return 0;
	if (left->kind == LODE_VALUE_TEXT)
		return left->text == right->text ? 0 : strcmp(left->text, right->text);
	if (left->kind == LODE_VALUE_BOOLEAN)
		return left->truth - right->truth;
	if (left->kind == LODE_VALUE_INTEGER && right->kind == LODE_VALUE_INTEGER)
		return (left->integer > right->integer) - (left->integer < right->integer);
	double a = lode_value_to_double(left), b = lode_value_to_double(right);
	return (a > b) - (a < b);
}

guint lode_value_hash(const void *value)
{
	const LodeValue *self = value;

	switch (self->kind) {
	case LODE_VALUE_NONE:
		return 0;
	case LODE_VALUE_BOOLEAN:
		return self->truth ? 1 : 2;
	case LODE_VALUE_TEXT:
		return g_str_hash(self->text);
	case LODE_VALUE_INTEGER:
		/* Addresses differ in the middle, which the product carries to the top. */
		return (guint)lode_hash_slot((uint64_t)self->integer, 32);
	case LODE_VALUE_REAL:
		break;
	}
	/* 0 and −0 are equal. */
	double real = self->real == 0 ? 0 : self->real;
	return g_double_hash(&real);
}

gboolean lode_value_equal(const void *left, const void *right)
{
	const LodeValue *a = left, *b = right;

	return a->kind == b->kind && lode_value_compare(a, b) == 0;
}

static void append_integer(LodeInteger integer, bool is_hex, GString *out)
{
	uint64_t magnitude = (uint64_t)(integer < 0 ? -integer : integer);

	if (integer < 0)
		g_string_append_c(out, '-');
	g_string_append_printf(
		out, is_hex ? "0x%" G_GINT64_MODIFIER "x" : "%" G_GUINT64_FORMAT, magnitude);
}

void lode_value_append(const LodeValue *self, bool is_hex, GString *out)
{
	switch (self->kind) {
	case LODE_VALUE_NONE:
		g_string_append(out, "(none)");
		break;
	case LODE_VALUE_INTEGER:
		append_integer(self->integer, is_hex, out);
		break;
	case LODE_VALUE_REAL:
		g_string_append(out, LODE_EXACT_TEXT(self->real));
		break;
	case LODE_VALUE_TEXT:
		g_string_append(out, self->text);
		break;
	case LODE_VALUE_BOOLEAN:
		g_string_append(out, self->truth ? "yes" : "no");
		break;
	}
}
