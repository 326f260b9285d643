/* SPDX-License-Identifier: MIT */
/*
 * Comparators for qsort(), bsearch(), g_array_sort() and their like, written as the list of keys to
 * compare by: a key decides where those before it are equal.
 *
 *   LODE_ORDER(compare_rows, Row, LODE_DESCENDING(weight), LODE_ASCENDING(place.address),
 *           strcmp(left->name, right->name))
 *
 * defines `static int compare_rows(const void *a, const void *b)` for elements of the type Row. It
 * puts the heaviest first, those of one weight by address, those of one address by name.
 *
 * A key is LODE_ASCENDING() or LODE_DESCENDING() of a field that is a number (any integer, double,
 * bool or enum; false is before true), or any other int expression in `left` and `right`, the two
 * elements as `const Row *`; other comparators may be called with these. A comparator that is
 * public or needs user data declares the two itself and returns LODE_FIRST_DIFFERENCE(keys).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* −1, 0 or 1: left is below right, equal, above. Their difference may not fit into an int. */
static inline int lode_number_order(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

/* The plus makes the compiler reject pointers. */
#define LODE_ASCENDING(field)                                                                      \
	(+left->field == +right->field ? 0 : +left->field < +right->field ? -1 : 1)
#define LODE_DESCENDING(field)                                                                     \
	(+left->field == +right->field ? 0 : +left->field > +right->field ? -1 : 1)

/* The first of at most eight keys that is not 0; the keys after it are not evaluated. */
#define LODE_FIRST_DIFFERENCE(...) LODE_FIRST_OF_EIGHT_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0)
#define LODE_FIRST_OF_EIGHT_(k1, k2, k3, k4, k5, k6, k7, k8, surplus, ...)                         \
	({                                                                                         \
		_Static_assert((surplus) == 0, "more than eight keys");                            \
		(k1) ?: (k2) ?: (k3) ?: (k4) ?: (k5) ?: (k6) ?: (k7) ?: (k8);                      \
	})

/* The elements are Type. */
#define LODE_ORDER(name, Type, ...)                                                                \
	static int name(const void *a, const void *b)                                              \
	{                                                                                          \
		const Type *left = a, *right = b;                                                  \
                                                                                                   \
		return LODE_FIRST_DIFFERENCE(__VA_ARGS__);                                         \
	}

/* The elements are pointers to Type, as in a GPtrArray. */
#define LODE_ORDER_OF_POINTERS(name, Type, ...)                                                    \
	static int name(const void *a, const void *b)                                              \
	{                                                                                          \
		const Type *left = *(const Type *const *)a, *right = *(const Type *const *)b;      \
                                                                                                   \
		return LODE_FIRST_DIFFERENCE(__VA_ARGS__);                                         \
	}

/* The elements are uint32_t indices into the array of Type that is passed as data. */
#define LODE_ORDER_OF_INDICES(name, Type, ...)                                                     \
	static int name(const void *a, const void *b, void *data)                                  \
	{                                                                                          \
		const Type *left = (const Type *)data + *(const uint32_t *)a;                      \
		const Type *right = (const Type *)data + *(const uint32_t *)b;                     \
                                                                                                   \
		return LODE_FIRST_DIFFERENCE(__VA_ARGS__);                                         \
	}

/* Comparators of elements that are uint32_t, uint64_t, double, or strings (char *). */
static inline int lode_compare_u32(const void *a, const void *b)
{
	return lode_number_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int lode_compare_u64(const void *a, const void *b)
{
	return lode_number_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline int lode_compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The middle value, or the mean of both middle ones, of `n` values, which it sorts; 0 for none. */
static inline double lode_median(double *values, size_t n)
{
	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), lode_compare_doubles);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

static inline int lode_compare_doubles_descending(const void *a, const void *b)
{
	return lode_compare_doubles(b, a);
}

static inline int lode_compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
