/* SPDX-License-Identifier: MIT */
/*
 * The values of expressions over samples: whole numbers, fractions, text, conditions, and "none",
 * which a sample has where nothing was recorded or nothing is known.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Wide enough for every address, and for a negative difference of two. */
__extension__ typedef __int128 LodeInteger;

typedef enum {
	LODE_VALUE_NONE,
	LODE_VALUE_INTEGER, /* −2^63 … 2^64−1; what would leave that range is none */
	LODE_VALUE_REAL,    /* always finite */
	LODE_VALUE_TEXT,
	LODE_VALUE_BOOLEAN,
} LodeValueKind;

typedef struct {
	LodeValueKind kind;
	union {
		LodeInteger integer;
		double real;
		const char
			*text; /* borrowed: from the profile, its attributes, or the expression */
		bool truth;
	};
} LodeValue;

static inline LodeValue lode_value_none(void)
{
	return (LodeValue){.kind = LODE_VALUE_NONE};
}

static inline LodeValue lode_value_of_integer(LodeInteger integer)
{
	if (integer < INT64_MIN || integer > UINT64_MAX)
		return lode_value_none();
	return (LodeValue){.kind = LODE_VALUE_INTEGER, .integer = integer};
}

static inline LodeValue lode_value_of_text(const char *text)
{
	if (text == NULL)
		return lode_value_none();
	return (LodeValue){.kind = LODE_VALUE_TEXT, .text = text};
}

static inline LodeValue lode_value_of_boolean(bool truth)
{
	return (LodeValue){.kind = LODE_VALUE_BOOLEAN, .truth = truth};
}

/* The subject of expressions: samples of some kind, and their attributes. */
typedef struct {
	const char *name;
	LodeValueKind kind; /* of its values that are not none */
	bool is_hex;        /* shown as an address */
	/* The attribute in its place when samples are grouped: numbers of threads and lines mean
	 * little without the process and the file; NULL: itself. */
	const char *grouped_as;
} LodeExpressionAttribute;

typedef struct {
	size_t n;                                            /* attributes, by name */
	LodeExpressionAttribute (*attribute)(size_t number); /* static strings */
	/* `attributes` are what an evaluator was made with. */
	LodeValue (*value)(const void *attributes, size_t number, const void *sample);
} LodeExpressionSource;

/* None if it is not finite. */
LodeValue lode_value_of_real(double real);

/* Whole numbers and fractions as a double. */
double lode_value_to_double(const LodeValue *self);

/* A total order for sorting: none, conditions, numbers by value, text by its bytes. Numbers of
 * both kinds compare as doubles. */
int lode_value_compare(const LodeValue *left, const LodeValue *right);

guint lode_value_hash(const void *value);
gboolean lode_value_equal(const void *left, const void *right);

/* As people read it: "(none)", "12", "0x7f00" with is_hex, "0.5", "yes", the text. Appends. */
void lode_value_append(const LodeValue *self, bool is_hex, GString *out);
