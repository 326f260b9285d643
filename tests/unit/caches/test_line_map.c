/* SPDX-License-Identifier: MIT */
/* The table of lines does what a GHashTable does, within its budget. */
#include "caches/sets/line_map.h"

#include "caches/sets/miss_classes.h"
#include "seeds.h"

enum { BUDGET = 1 << 20 };

static void compare_all(const LodeLineMap *map, GHashTable *expected)
{
	GHashTableIter iter;
	gpointer key, value;

	g_assert_cmpuint(map->n, ==, g_hash_table_size(expected));
	g_hash_table_iter_init(&iter, expected);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const uint64_t *found = lode_line_map_find(map, *(const uint64_t *)key);

		g_assert_nonnull(found);
		g_assert_cmpuint(*found, ==, GPOINTER_TO_UINT(value));
	}
}

/* Few different lines, so that they come and go; some hash alike in their low bits. */
static uint64_t random_line(void)
{
	uint64_t line = (uint64_t)random_int_range(0, 300);

	return random_int_range(0, 2) ? line : line << 40;
}

static void test_random(void)
{
	g_autoptr(GHashTable)
		expected = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	LodeCacheBudget budget;
	LodeLineMap map;

	lode_cache_budget_init(&budget, BUDGET);
	g_assert_true(lode_line_map_init(&map, 0, &budget));
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t line = random_line();

		if (random_int_range(0, 2)) {
			*lode_line_map_find_or_add(&map, line) = i;
			g_hash_table_replace(
				expected, g_memdup2(&line, sizeof(line)), GUINT_TO_POINTER(i));
		} else {
			lode_line_map_remove(&map, line);
			g_hash_table_remove(expected, &line);
		}
		g_assert_true((lode_line_map_find(&map, line) != NULL) ==
			      g_hash_table_contains(expected, &line));
		if (i % 500 == 0)
			compare_all(&map, expected);
	}
	compare_all(&map, expected);
	lode_line_map_clear(&map);
	g_assert_cmpuint(atomic_load(&budget.left), ==, BUDGET);
}

/* It grows until the budget does not let it, and says so. */
static void test_budget(void)
{
	LodeCacheBudget budget;
	LodeLineMap map;
	uint64_t n = 0;

	lode_cache_budget_init(&budget, BUDGET);
	g_assert_true(lode_line_map_init(&map, 0, &budget));
	while (lode_line_map_find_or_add(&map, n) != NULL)
		n++;
	g_assert_true(atomic_load(&budget.is_spent));
	g_assert_cmpuint(n * sizeof(LodeLineMapPlace), <=, BUDGET);
	g_assert_nonnull(lode_line_map_find(&map, n - 1));
	g_assert_null(lode_line_map_find(&map, n));
	lode_line_map_clear(&map);
	g_assert_cmpuint(atomic_load(&budget.left), ==, BUDGET);
}

/* So do the classes of misses of a trace that never comes back to a line. */
static void test_classes_budget(void)
{
	LodeCacheBudget budget;
	LodeMissClasses *classes;

	lode_cache_budget_init(&budget, BUDGET);
	classes = lode_miss_classes_new(1 << 20, &budget);
	for (uint64_t line = 0; line < BUDGET / 16; line++)
		lode_miss_classes_access(classes, line, 1, true);
	g_assert_true(atomic_load(&budget.is_spent));
	lode_miss_classes_free(classes);
	g_assert_cmpuint(atomic_load(&budget.left), ==, BUDGET);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/caches/line_map/random", test_random,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	g_test_add_func("/caches/line_map/budget", test_budget);
	g_test_add_func("/caches/line_map/classes_budget", test_classes_budget);
	return g_test_run();
}
