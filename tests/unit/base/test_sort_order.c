/* SPDX-License-Identifier: MIT */
/* Comparators made of keys against ones written out, on random rows with many ties. */
#include "base/arrays/sort_order.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

typedef enum Colour { COLOUR_RED, COLOUR_GREEN, COLOUR_BLUE } Colour;

typedef struct Row {
	uint64_t address;
	int64_t offset;
	struct {
		double weight;
		float share;
	} cost;
	uint32_t id;
	int32_t level;
	uint16_t port;
	int8_t sign;
	bool is_end;
	Colour colour : 4;
	const char *name;
} Row;

/* Some values at the ends of each type, whose differences overflow. */
static void make_row(GRand *random, Row *out)
{
	static const uint64_t addresses[] = {0, 1, UINT64_C(1) << 63, UINT64_MAX};
	static const int64_t offsets[] = {INT64_MIN, -1, 0, INT64_MAX};
	static const double weights[] = {-INFINITY, -0.0, 0.0, 1e-300, 0.5, INFINITY};
	static const uint32_t ids[] = {0, 1, UINT32_C(1) << 31, UINT32_MAX};
	static const int32_t levels[] = {INT32_MIN, -1, 0, INT32_MAX};
	static const char *const names[] = {"", "a", "ab", "b", "\xff"};

	*out = (Row){
		.address = addresses[g_rand_int_range(random, 0, G_N_ELEMENTS(addresses))],
		.offset = offsets[g_rand_int_range(random, 0, G_N_ELEMENTS(offsets))],
		.cost.weight = weights[g_rand_int_range(random, 0, G_N_ELEMENTS(weights))],
		.cost.share = (float)g_rand_int_range(random, -1, 2),
		.id = ids[g_rand_int_range(random, 0, G_N_ELEMENTS(ids))],
		.level = levels[g_rand_int_range(random, 0, G_N_ELEMENTS(levels))],
		.port = (uint16_t)(g_rand_int_range(random, 0, 2) * UINT16_MAX),
		.sign = (int8_t)g_rand_int_range(random, -1, 2),
		.is_end = g_rand_boolean(random),
		.colour = (Colour)g_rand_int_range(random, COLOUR_RED, COLOUR_BLUE + 1),
		.name = names[g_rand_int_range(random, 0, G_N_ELEMENTS(names))],
	};
}

LODE_ORDER(by_address, Row, LODE_ASCENDING(address))
LODE_ORDER(by_offset, Row, LODE_DESCENDING(offset))
LODE_ORDER(by_weight, Row, LODE_ASCENDING(cost.weight))
LODE_ORDER(by_share, Row, LODE_DESCENDING(cost.share))
LODE_ORDER(by_id, Row, LODE_ASCENDING(id))
LODE_ORDER(by_level, Row, LODE_DESCENDING(level))
LODE_ORDER(by_port, Row, LODE_ASCENDING(port))
LODE_ORDER(by_sign, Row, LODE_DESCENDING(sign))
LODE_ORDER(by_end, Row, LODE_ASCENDING(is_end))
LODE_ORDER(by_colour, Row, LODE_DESCENDING(colour))
LODE_ORDER(by_name, Row, strcmp(left->name, right->name))

#define WRITTEN_OUT(name, first, second)                                                           \
	static int name(const Row *x, const Row *y)                                                \
	{                                                                                          \
		if (first)                                                                         \
			return -1;                                                                 \
		if (second)                                                                        \
			return 1;                                                                  \
		return 0;                                                                          \
	}
WRITTEN_OUT(plain_address, x->address<y->address, x->address> y->address)
WRITTEN_OUT(plain_offset, x->offset > y->offset, x->offset < y->offset)
WRITTEN_OUT(plain_weight, x->cost.weight<y->cost.weight, x->cost.weight> y->cost.weight)
WRITTEN_OUT(plain_share, x->cost.share > y->cost.share, x->cost.share < y->cost.share)
WRITTEN_OUT(plain_id, x->id<y->id, x->id> y->id)
WRITTEN_OUT(plain_level, x->level > y->level, x->level < y->level)
WRITTEN_OUT(plain_port, x->port<y->port, x->port> y->port)
WRITTEN_OUT(plain_sign, x->sign > y->sign, x->sign < y->sign)
WRITTEN_OUT(plain_end, !x->is_end && y->is_end, x->is_end && !y->is_end)
WRITTEN_OUT(plain_colour, x->colour > y->colour, x->colour < y->colour)
WRITTEN_OUT(plain_name, strcmp(x->name, y->name) < 0, strcmp(x->name, y->name) > 0)

static int sign_of(int order)
{
	return (order > 0) - (order < 0);
}

static void test_one_key(void)
{
	static const struct {
		int (*made)(const void *a, const void *b);
		int (*plain)(const Row *x, const Row *y);
	} pairs[] = {
		{by_address, plain_address},
		{by_offset, plain_offset},
		{by_weight, plain_weight},
		{by_share, plain_share},
		{by_id, plain_id},
		{by_level, plain_level},
		{by_port, plain_port},
		{by_sign, plain_sign},
		{by_end, plain_end},
		{by_colour, plain_colour},
		{by_name, plain_name},
	};
	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	for (unsigned i = 0; i < 2000; i++) {
		Row x, y;
		make_row(random, &x);
		make_row(random, &y);
		for (unsigned pair = 0; pair < G_N_ELEMENTS(pairs); pair++)
			g_assert_cmpint(
				sign_of(pairs[pair].made(&x, &y)), ==, pairs[pair].plain(&x, &y));
	}
}

LODE_ORDER(by_six, Row, LODE_ASCENDING(is_end), LODE_DESCENDING(colour), by_name(left, right),
	LODE_DESCENDING(cost.share), LODE_ASCENDING(level), LODE_ASCENDING(address))
LODE_ORDER_OF_POINTERS(pointers_by_six, Row, by_six(left, right))
LODE_ORDER_OF_INDICES(indices_by_six, Row, by_six(left, right), (left > right) - (left < right))

static int plain_six(const Row *x, const Row *y)
{
	if (x->is_end != y->is_end)
		return plain_end(x, y);
	if (x->colour != y->colour)
		return plain_colour(x, y);
	if (strcmp(x->name, y->name) != 0)
		return plain_name(x, y);
	if (x->cost.share > y->cost.share || x->cost.share < y->cost.share)
		return plain_share(x, y);
	if (x->level != y->level)
		return -plain_level(x, y);
	return plain_address(x, y);
}

/* Rows, pointers to them and their indices come into one order, which is the plain one. */
static void test_sorted(void)
{
	enum { N = 3000 };
	g_autoptr(GRand) random = g_rand_new_with_seed(2);
	g_autofree Row *rows = g_new(Row, N);
	g_autofree uint32_t *indices = g_new(uint32_t, N);
	g_autoptr(GPtrArray) pointers = g_ptr_array_new();

	for (uint32_t i = 0; i < N; i++) {
		make_row(random, &rows[i]);
		indices[i] = N - 1 - i;
		g_ptr_array_add(pointers, &rows[i]);
	}
	g_ptr_array_sort(pointers, pointers_by_six);
	g_qsort_with_data(indices, N, sizeof(*indices), indices_by_six, rows);
	for (uint32_t i = 0; i < N; i++) {
		g_assert_true(pointers->pdata[i] == &rows[indices[i]]);
		if (i > 0)
			g_assert_cmpint(
				plain_six(pointers->pdata[i - 1], pointers->pdata[i]), <=, 0);
	}
	qsort(rows, N, sizeof(*rows), by_six);
	for (uint32_t i = 1; i < N; i++)
		g_assert_cmpint(plain_six(&rows[i - 1], &rows[i]), <=, 0);
}

static int n_calls;

static int counted(int order)
{
	n_calls++;
	return order;
}

/* No key is evaluated after the one that decides. */
static void test_first_difference(void)
{
	g_assert_cmpint(LODE_FIRST_DIFFERENCE(counted(0), counted(-7), counted(3)), ==, -7);
	g_assert_cmpint(n_calls, ==, 2);
	g_assert_cmpint(LODE_FIRST_DIFFERENCE(0, 0, 0, 0, 0, counted(5)), ==, 5);
	g_assert_cmpint(LODE_FIRST_DIFFERENCE(counted(0)), ==, 0);
	g_assert_cmpint(n_calls, ==, 4);
}

static void test_plain_elements(void)
{
	uint32_t narrow[] = {UINT32_MAX, 0, 7};
	uint64_t wide[] = {UINT64_MAX, 0, UINT32_MAX};
	double rising[] = {0.5, -INFINITY, 0.25}, falling[] = {0.25, -INFINITY, 0.5};
	const char *texts[] = {"b", "", "ab"};

	qsort(narrow, 3, sizeof(*narrow), lode_compare_u32);
	qsort(wide, 3, sizeof(*wide), lode_compare_u64);
	qsort(rising, 3, sizeof(*rising), lode_compare_doubles);
	qsort(falling, 3, sizeof(*falling), lode_compare_doubles_descending);
	qsort(texts, 3, sizeof(*texts), lode_compare_texts);
	g_assert_true(narrow[0] == 0 && narrow[1] == 7 && narrow[2] == UINT32_MAX);
	g_assert_true(wide[0] == 0 && wide[1] == UINT32_MAX && wide[2] == UINT64_MAX);
	g_assert_true(isinf(rising[0]) && rising[1] < rising[2]);
	g_assert_true(falling[0] > falling[1] && isinf(falling[2]));
	g_assert_true(g_str_equal(texts[0], "") && g_str_equal(texts[1], "ab"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sort-order/one-key", test_one_key);
	g_test_add_func("/sort-order/sorted", test_sorted);
	g_test_add_func("/sort-order/first-difference", test_first_difference);
	g_test_add_func("/sort-order/plain-elements", test_plain_elements);
	return g_test_run();
}
