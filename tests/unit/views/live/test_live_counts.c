/* SPDX-License-Identifier: MIT */
/* Counts stay whole when cells become too many, and the majority's function is found. */
#include "live_world.h"
#include "model/address_rule.h"
#include "seeds.h"

static LodeLiveAccess access_at(uint32_t thread, uint64_t address, const char *function)
{
	return (LodeLiveAccess){
		.thread = thread,
		.access = LODE_ACCESS_LOAD,
		.address = address,
		.weight = 2,
		.mapping = live_world_heap,
		.function = function,
	};
}

static LodeLiveCell sum_of(const LodeLiveCounts *counts)
{
	LodeLiveCell sum = {0};
	GHashTableIter iterator;
	void *key;

	g_hash_table_iter_init(&iterator, counts->cells);
	while (g_hash_table_iter_next(&iterator, &key, NULL)) {
		const LodeLiveCell *cell = key;
		g_assert_cmpuint(cell->address % counts->unit, ==, 0);
		sum.n_loads += cell->n_loads;
		sum.n_stores += cell->n_stores;
		sum.weight += cell->weight;
	}
	return sum;
}

static const LodeLiveCell *find(const LodeLiveCounts *counts, uint32_t thread, uint64_t address)
{
	const LodeLiveCell key = {.address = address, .thread = thread};

	return g_hash_table_lookup(counts->cells, &key);
}

static void test_cells(void)
{
	g_autoptr(LodeLiveCounts) counts = lode_live_counts_new(0);
	LodeLiveAccess access = access_at(1, 0x1005, NULL);

	lode_live_counts_add(counts, &access);
	access.address = 0x1000;
	access.access = LODE_ACCESS_LOAD | LODE_ACCESS_STORE;
	lode_live_counts_add(counts, &access);
	access.thread = 2;
	lode_live_counts_add(counts, &access);
	g_assert_cmpuint(g_hash_table_size(counts->cells), ==, 2);
	g_assert_cmpuint(find(counts, 1, 0x1000)->n_loads, ==, 2);
	g_assert_cmpuint(find(counts, 1, 0x1000)->n_stores, ==, 1);
	g_assert_cmpfloat(find(counts, 1, 0x1000)->weight, ==, 4);
	lode_live_counts_reset(counts);
	g_assert_cmpuint(g_hash_table_size(counts->cells), ==, 0);
}

/* Against the plain sum, whatever the order and the number of doublings. */
static void test_coarser(void)
{
	enum { N = 5000, MAX_CELLS = 64 };
	g_autoptr(LodeLiveCounts) counts = lode_live_counts_new(MAX_CELLS);

	for (int i = 0; i < N; i++) {
		uint64_t address = 0x10000 + (uint64_t)random_int_range(0, 1 << 20);
		const LodeLiveAccess access = access_at((uint32_t)(i % 3), address, NULL);
		lode_live_counts_add(counts, &access);
		g_assert_cmpuint(g_hash_table_size(counts->cells), <=, MAX_CELLS);
	}
	g_assert_cmpuint(counts->unit, >=, (1 << 20) * 3 / MAX_CELLS / 2);
	g_assert_cmpuint(sum_of(counts).n_loads, ==, N);
	g_assert_cmpfloat(sum_of(counts).weight, ==, 2 * N);
	g_autoptr(LodeLiveCounts) copy = lode_live_counts_copy(counts);
	lode_live_counts_reset(counts);
	g_assert_cmpuint(counts->unit, ==, LODE_LIVE_FINEST_UNIT);
	g_assert_cmpuint(sum_of(copy).n_loads, ==, N);
}

/* More threads than cells: nothing can be made coarser, and it must end. */
static void test_many_threads(void)
{
	g_autoptr(LodeLiveCounts) counts = lode_live_counts_new(4);

	for (uint32_t i = 0; i < 20; i++) {
		const LodeLiveAccess access = access_at(i, 0x1000, NULL);
		lode_live_counts_add(counts, &access);
	}
	g_assert_cmpuint(sum_of(counts).n_loads, ==, 20);
}

static void test_majority(void)
{
	static const char often[] = "often", sometimes[] = "sometimes";
	g_autoptr(LodeLiveCounts) counts = lode_live_counts_new(0);

	for (int i = 0; i < 100; i++) {
		const LodeLiveAccess access = access_at(0, 0x1000, i % 5 < 2 ? sometimes : often);
		lode_live_counts_add(counts, &access);
	}
	g_assert_true(find(counts, 0, 0x1000)->function == often);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live_counts/cells", test_cells);
	add_random_test("/live_counts/coarser", test_coarser,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	g_test_add_func("/live_counts/many_threads", test_many_threads);
	g_test_add_func("/live_counts/majority", test_majority);
	return g_test_run();
}
