/* SPDX-License-Identifier: MIT */
/* Columns cover what was accessed, in order, without holes in an extent, whatever the places. */
#include "seeds.h"
#include "views/live/live_scene.h"

#include <stdlib.h>

static const char first_mapping[] = "first", second_mapping[] = "second";

static void make(LodeLiveColumns *columns, const LodeLiveTouch *touched, size_t n, unsigned places)
{
	const LodeLiveColumnOptions options = {
		.granularity = 4096,
		.end = UINT64_MAX,
		.n_places = places,
	};

	lode_live_columns_init(columns, touched, n, &options);
}

static const LodeLiveColumn *column_of(const LodeLiveColumns *columns, int number)
{
	g_assert_cmpint(number, >=, 0);
	g_assert_cmpint(number, <, (int)columns->columns->len);
	return &g_array_index(columns->columns, LodeLiveColumn, number);
}

static void test_gaps(void)
{
	static const LodeLiveTouch touched[] = {
		{0x400000, first_mapping}, {0x402000, first_mapping}, /* 3 pages */
		{0x403000, second_mapping},                           /* another mapping */
		{0x7fff00000000, second_mapping},                     /* far away */
	};
	LodeLiveColumns columns;

	make(&columns, touched, G_N_ELEMENTS(touched), 60);
	g_assert_cmpuint(columns.extents->len, ==, 3);
	g_assert_cmpuint(columns.columns->len, ==, 5);
	g_assert_cmpint(lode_live_columns_find(&columns, 0x401fff), ==, 1);
	g_assert_cmpint(lode_live_columns_find(&columns, 0x403000), ==, 3);
	g_assert_cmpint(lode_live_columns_find(&columns, 0x500000), ==, 4);
	g_assert_cmpint(lode_live_columns_find(&columns, UINT64_MAX), ==, 4);
	g_assert_cmpuint(column_of(&columns, 3)->place, ==, 4);
	g_assert_cmpuint(column_of(&columns, 4)->place, ==, 6);
	lode_live_columns_clear(&columns);
}

static void test_nothing(void)
{
	LodeLiveColumns columns;

	make(&columns, NULL, 0, 60);
	g_assert_cmpuint(columns.columns->len, ==, 0);
	g_assert_cmpint(lode_live_columns_find(&columns, 0), ==, -1);
	lode_live_columns_clear(&columns);
}

static int compare(const void *a, const void *b)
{
	const LodeLiveTouch *first = a, *second = b;

	return first->address < second->address ? -1 : first->address > second->address;
}

static size_t make_touched(LodeLiveTouch *touched, size_t n)
{
	size_t n_different = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t bits = (uint64_t)random_int() << 32 | (uint32_t)random_int();
		int shift = random_int_range(0, 50);
		touched[i].address = (bits >> shift) & ~UINT64_C(4095);
		touched[i].mapping = random_bit() ? first_mapping : second_mapping;
	}
	qsort(touched, n, sizeof(*touched), compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || touched[i].address != touched[n_different - 1].address)
			touched[n_different++] = touched[i];
	return n_different;
}

static void check_order(const LodeLiveColumns *columns, unsigned places)
{
	const LodeLiveColumn *last = NULL;

	for (guint i = 0; i < columns->columns->len; i++) {
		const LodeLiveColumn *column = column_of(columns, (int)i);
		g_assert_cmpuint(column->start, <, column->end);
		g_assert_cmpuint(column->place, <, places);
		if (last != NULL && last->extent == column->extent)
			g_assert_cmpuint(last->end, ==, column->start);
		else if (last != NULL)
			g_assert_cmpuint(last->end, <=, column->start);
		last = column;
	}
}

static void test_random(void)
{
	for (int round = 0; round < 2000; round++) {
		LodeLiveTouch touched[40];
		unsigned places = (unsigned)random_int_range(1, 100);
		size_t n = make_touched(touched, (size_t)random_int_range(1, 40));
		LodeLiveColumns columns;

		make(&columns, touched, n, places);
		check_order(&columns, places);
		for (size_t i = 0; i < n; i++) {
			int found = lode_live_columns_find(&columns, touched[i].address);
			g_assert_cmpuint(column_of(&columns, found)->start, <=, touched[i].address);
			g_assert_cmpuint(column_of(&columns, found)->end, >, touched[i].address);
		}
		lode_live_columns_clear(&columns);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live_columns/gaps", test_gaps);
	g_test_add_func("/live_columns/nothing", test_nothing);
	add_random_test("/live_columns/random", test_random, "R02S00000000000000000000000000000001",
		"R02S00000000000000000000000000000002", NULL);
	return g_test_run();
}
