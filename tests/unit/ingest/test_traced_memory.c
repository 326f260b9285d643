/* SPDX-License-Identifier: MIT */
/* Of streams of accesses that are too long, what is kept: 1 of N, wherever it stands in its N. */
#include "ingest/traced_memory.h"

static void feed(LodeTracedMemory *memory, uint32_t stream, uint64_t n, GArray *kept)
{
	for (uint64_t i = 0; i < n; i++) {
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

/* One in each N; and not always the same of them, whatever they repeat. */
static void test_one_of_each(void)
{
	g_autoptr(LodeTracedMemory) memory = lode_traced_memory_new(64);
	const uint64_t room = LODE_TRACED_MEMORY_ROWS / 64, n = room * 16;

	feed(memory, 3, n, NULL);
	g_assert_cmpuint(lode_traced_memory_interval(memory, 3), ==, 32);
	const GArray *rows = lode_traced_memory_rows(memory, 3);
	g_assert_cmpuint(rows->len, ==, n / 32);
	uint64_t residues[32] = {0};
	for (guint i = 0; i < rows->len; i++) {
		uint64_t reference = g_array_index(rows, LodeTracedAccess, i).reference;
		g_assert_cmpuint(reference / 32, ==, i);
		residues[reference % 32]++;
	}
	/* 4096 / 32 of each are expected; five standard deviations off is no chance. */
	for (size_t i = 0; i < 32; i++) {
		g_assert_cmpuint(residues[i], >, 128 - 5 * 11);
		g_assert_cmpuint(residues[i], <, 128 + 5 * 11);
	}
}

/* Passing by many at once is the same as one by one. */
static void test_distance(void)
{
	g_autoptr(LodeTracedMemory) slow = lode_traced_memory_new(64);
	g_autoptr(LodeTracedMemory) fast = lode_traced_memory_new(64);
	const uint64_t n = LODE_TRACED_MEMORY_ROWS / 64 * 5 + 17;
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
	g_test_add_func("/traced_memory/distance", test_distance);
	return g_test_run();
}
