/* SPDX-License-Identifier: MIT */
/* Of streams of accesses that are too long, what is kept: 1 of N, wherever it stands in its N. */
#include "ingest/traced/traced_memory.h"

#include <math.h>

static void feed_at(
	LodeTracedMemory *memory, uint32_t stream, uint64_t first, uint64_t n, GArray *kept)
{
	for (uint64_t i = first; i < first + n; i++) {
		const LodeTracedAccess access = {.reference = i};
		if (lode_traced_memory_distance(memory, stream) > 0) {
			lode_traced_memory_pass(memory, stream, 1);
			continue;
		}
		lode_traced_memory_keep(memory, stream, &access);
		if (kept != NULL)
			g_array_append_val(kept, i);
	}
}

static void feed(LodeTracedMemory *memory, uint32_t stream, uint64_t n, GArray *kept)
{
	feed_at(memory, stream, 0, n, kept);
}

static void test_all_fit(void)
{
	g_autoptr(LodeTracedMemory) memory = lode_traced_memory_new(2);
	g_autoptr(GArray) kept = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	feed(memory, 1, 1000, kept);
	g_assert_cmpuint(kept->len, ==, 1000);
	g_assert_cmpuint(lode_traced_memory_interval(memory, 1), ==, 1);
	g_assert_cmpuint(lode_traced_memory_seen(memory, 1), ==, 1000);
	g_assert_cmpuint(lode_traced_memory_seen(memory, 0), ==, 0);
}

/* Row i is of group i, and not always the same of it, whatever they repeat. */
static void check_rows(const LodeTracedMemory *memory, uint32_t stream, uint64_t n)
{
	uint64_t interval = lode_traced_memory_interval(memory, stream);
	const GArray *rows = lode_traced_memory_rows(memory, stream);
	g_autofree uint64_t *residues = g_new0(uint64_t, interval);
	double expected = (double)n / (double)interval / (double)interval;

	g_assert_cmpuint(lode_traced_memory_seen(memory, stream), ==, n);
	g_assert_cmpuint(rows->len, >=, n / interval);
	g_assert_cmpuint(rows->len, <=, n / interval + 1);
	for (guint i = 0; i < rows->len; i++) {
		uint64_t reference = g_array_index(rows, LodeTracedAccess, i).reference;
		g_assert_cmpuint(reference / interval, ==, i);
		residues[reference % interval]++;
	}
	/* Five standard deviations off is no chance. */
	for (uint64_t i = 0; interval > 1 && i < interval; i++)
		g_assert_cmpfloat(fabs((double)residues[i] - expected), <, 5 * sqrt(expected) + 1);
}

static void test_one_of_each(void)
{
	g_autoptr(LodeTracedMemory) memory = lode_traced_memory_new(64);
	const uint64_t n = LODE_TRACED_MEMORY_ROWS * UINT64_C(16) + 5;

	feed(memory, 3, n, NULL);
	g_assert_cmpuint(lode_traced_memory_interval(memory, 3), ==, 32);
	check_rows(memory, 3, n);
}

/* Streams that take turns share the room, and those that need little of it lose nothing. */
static void test_shared_room(void)
{
	static const uint64_t shares[] = {1, 4, 100, 101};
	g_autoptr(LodeTracedMemory) memory = lode_traced_memory_new(G_N_ELEMENTS(shares));
	const uint64_t turns = LODE_TRACED_MEMORY_ROWS / 16 + 1;
	uint64_t n_rows = 0;

	for (uint64_t i = 0; i < turns; i++)
		for (uint32_t j = 0; j < G_N_ELEMENTS(shares); j++)
			feed_at(memory, j, i * shares[j], shares[j], NULL);
	for (uint32_t j = 0; j < G_N_ELEMENTS(shares); j++) {
		check_rows(memory, j, turns * shares[j]);
		n_rows += lode_traced_memory_rows(memory, j)->len;
	}
	g_assert_cmpuint(lode_traced_memory_interval(memory, 0), ==, 1);
	g_assert_cmpuint(lode_traced_memory_interval(memory, 1), ==, 1);
	g_assert_cmpuint(n_rows, <, LODE_TRACED_MEMORY_ROWS);
	g_assert_cmpuint(n_rows, >=, LODE_TRACED_MEMORY_ROWS / 2);
}

/* A stream of so many misses keeps every second where the room is a little too small for all. */
static void test_little_is_lost(void)
{
	g_autoptr(LodeTracedMemory) memory = lode_traced_memory_new(3);
	const uint64_t n = LODE_TRACED_MEMORY_ROWS * UINT64_C(10) / 9;

	feed(memory, 1, n, NULL);
	g_assert_cmpuint(lode_traced_memory_interval(memory, 1), ==, 2);
	check_rows(memory, 1, n);
}

/* In a loop of as many misses as one is kept of, each gets its share. */
static void test_loops(void)
{
	g_autoptr(LodeTracedMemory) memory = lode_traced_memory_new(2);

	feed(memory, 0, LODE_TRACED_MEMORY_ROWS * UINT64_C(4) + 1, NULL);
	const GArray *rows = lode_traced_memory_rows(memory, 0);
	for (uint64_t period = 2; period <= 64; period++) {
		g_autofree uint64_t *counts = g_new0(uint64_t, period);
		double expected = (double)rows->len / (double)period;

		for (guint i = 0; i < rows->len; i++)
			counts[g_array_index(rows, LodeTracedAccess, i).reference % period]++;
		for (uint64_t i = 0; i < period; i++)
			g_assert_cmpfloat(
				fabs((double)counts[i] - expected), <, 5 * sqrt(expected));
	}
}

/* Passing by many at once is the same as one by one. */
static void test_distance(void)
{
	g_autoptr(LodeTracedMemory) slow = lode_traced_memory_new(2);
	g_autoptr(LodeTracedMemory) fast = lode_traced_memory_new(2);
	const uint64_t n = LODE_TRACED_MEMORY_ROWS * UINT64_C(5) + 17;
	uint64_t at = 0;

	feed(slow, 0, n, NULL);
	while (at + lode_traced_memory_distance(fast, 0) < n) {
		uint64_t distance = lode_traced_memory_distance(fast, 0);
		lode_traced_memory_pass(fast, 0, distance);
		const LodeTracedAccess access = {.reference = at + distance};
		lode_traced_memory_keep(fast, 0, &access);
		at += distance + 1;
	}
	lode_traced_memory_pass(fast, 0, n - at);
	const GArray *left = lode_traced_memory_rows(slow, 0);
	const GArray *right = lode_traced_memory_rows(fast, 0);
	g_assert_cmpuint(lode_traced_memory_seen(fast, 0), ==, n);
	g_assert_cmpuint(left->len, ==, right->len);
	for (guint i = 0; i < left->len; i++)
		g_assert_cmpuint(g_array_index(left, LodeTracedAccess, i).reference, ==,
			g_array_index(right, LodeTracedAccess, i).reference);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/traced_memory/all_fit", test_all_fit);
	g_test_add_func("/traced_memory/one_of_each", test_one_of_each);
	g_test_add_func("/traced_memory/shared_room", test_shared_room);
	g_test_add_func("/traced_memory/little_is_lost", test_little_is_lost);
	g_test_add_func("/traced_memory/loops", test_loops);
	g_test_add_func("/traced_memory/distance", test_distance);
	return g_test_run();
}
