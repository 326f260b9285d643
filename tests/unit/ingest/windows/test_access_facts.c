/* SPDX-License-Identifier: MIT */
/* Facts of addresses against naive ones, which keep all of them. */
#include "ingest/windows/access_visits.h"

#include "seeds.h"

#include <math.h>

typedef struct {
	uint64_t address;
	uint32_t size, stretch;
} Access;

static void add_value(GHashTable *counts, uint64_t value)
{
	gpointer n = g_hash_table_lookup(counts, GSIZE_TO_POINTER(value));

	g_hash_table_insert(
		counts, GSIZE_TO_POINTER(value), GSIZE_TO_POINTER(GPOINTER_TO_SIZE(n) + 1));
}

static uint32_t count_of(GHashTable *counts, int64_t value)
{
	return (uint32_t)GPOINTER_TO_SIZE(
		g_hash_table_lookup(counts, GSIZE_TO_POINTER((uint64_t)value)));
}

static uint32_t most_of(GHashTable *counts)
{
	GHashTableIter iter;
	gpointer value;
	uint32_t most = 0;

	g_hash_table_iter_init(&iter, counts);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		most = MAX(most, (uint32_t)GPOINTER_TO_SIZE(value));
	return most;
}

/* Exact as long as it says so, and then not far off: 6 standard errors. */
static void check_distinct(uint32_t n, guint exact)
{
	if (exact <= LODE_DISTINCT_KEPT) {
		g_assert_cmpuint(n, ==, exact);
		return;
	}
	g_assert_cmpfloat(fabs((double)n / exact - 1), <, 6 / sqrt(LODE_DISTINCT_KEPT - 2));
}

static void check(const GArray *accesses)
{
	g_autoptr(GHashTable) differences = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) lines = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) pages = g_hash_table_new(NULL, NULL);
	LodeObservedInstruction expected = {0}, facts = {0};
	LodeAccessFacts bounded = {0};

	for (guint i = 0; i < accesses->len; i++) {
		const Access *it = &g_array_index(accesses, Access, i);
		bool has_last = i > 0 && it[-1].stretch == it->stretch;
		expected.page_changes += has_last && it[-1].address / 4096 != it->address / 4096;
		expected.repeated += has_last && it[-1].address == it->address;
		if (has_last && it[-1].address != it->address)
			add_value(differences, it->address - it[-1].address);
		for (uint32_t byte = 0; byte < it->size; byte++) {
			uint64_t address = it->address + byte;
			expected.line_bytes |= UINT64_C(1) << address % 64;
			g_hash_table_add(lines, GSIZE_TO_POINTER(address / 64 + 1));
			g_hash_table_add(pages, GSIZE_TO_POINTER(address / 4096 + 1));
		}
		expected.split += it->address / 64 != (it->address + it->size - 1) / 64;
		expected.split_pages += it->address / 4096 != (it->address + it->size - 1) / 4096;
		lode_access_facts_add(&bounded, &facts, it->address, it->size, it->stretch);
	}
	lode_access_facts_finish(&bounded, &facts);
	g_assert_cmpuint(facts.accesses, ==, accesses->len);
	g_assert_cmpuint(facts.repeated, ==, expected.repeated);
	g_assert_cmpuint(facts.page_changes, ==, expected.page_changes);
	g_assert_cmpuint(facts.line_bytes, ==, expected.line_bytes);
	g_assert_cmpuint(facts.split, ==, expected.split);
	g_assert_cmpuint(facts.split_pages, ==, expected.split_pages);
	check_distinct(facts.lines, g_hash_table_size(lines));
	check_distinct(facts.pages, g_hash_table_size(pages));
	g_assert_cmpuint(facts.strided, <=, count_of(differences, facts.stride));
	if (g_hash_table_size(differences) <= LODE_STRIDE_COUNTERS) {
		g_assert_cmpuint(facts.strided, ==, most_of(differences));
		g_assert_cmpuint(facts.strided, ==, count_of(differences, facts.stride));
	} else {
		uint32_t n = 0;
		for (guint i = 1; i < accesses->len; i++) {
			const Access *it = &g_array_index(accesses, Access, i);
			n += it[-1].stretch == it->stretch && it[-1].address != it->address;
		}
		/* the bound of the algorithm */
		g_assert_cmpuint(
			facts.strided + n / LODE_STRIDE_COUNTERS, >=, most_of(differences));
	}
	lode_access_facts_clear(&bounded);
}

static void test_random(void)
{
	for (unsigned round = 0; round < random_rounds(60, 1000); round++) {
		g_autoptr(GArray) accesses = g_array_new(FALSE, FALSE, sizeof(Access));
		unsigned n = (unsigned)random_int_range(1, 3000);
		gint32 span = 1 << random_int_range(3, 24);
		gint32 often = random_int_range(1, 20);
		uint64_t step = (uint64_t)random_int_range(-5000, 5000);
		Access access = {.address = UINT64_C(1) << 40, .stretch = 1};
		for (unsigned i = 0; i < n; i++) {
			access.stretch += random_int_range(0, 200) == 0;
			access.size = 1U << random_int_range(0, 8);
			if (random_int_range(0, often) == 0)
				access.address = (UINT64_C(1) << 40) +
				                 (uint64_t)random_int_range(0, span);
			else
				access.address += step;
			g_array_append_val(accesses, access);
		}
		check(accesses);
	}
}

/* A walk over an array, again and again: the stride is exact, the step back is rare. */
static void test_walk(gconstpointer data)
{
	const int64_t stride = GPOINTER_TO_SIZE(data) == 1 ? -24 : (int64_t)GPOINTER_TO_SIZE(data);
	LodeObservedInstruction facts = {0};
	LodeAccessFacts bounded = {0};

	for (unsigned i = 0; i < 1000; i++)
		lode_access_facts_add(&bounded, &facts,
			(UINT64_C(1) << 30) + (uint64_t)(stride * (i % 50)), 8, 1 + i / 200);
	lode_access_facts_finish(&bounded, &facts);
	g_assert_cmpint(facts.stride, ==, stride);
	g_assert_cmpuint(facts.strided, ==, 1000 - 20);
	g_assert_cmpuint(facts.repeated, ==, 0);
	if (stride == 64)
		g_assert_cmpuint(facts.line_bytes, ==, 0xff);
	if (stride == 4096)
		g_assert_cmpuint(facts.pages, ==, 50);
	lode_access_facts_clear(&bounded);
}

/* The ends of the address space and of numbers. */
static void test_ends(void)
{
	LodeObservedInstruction facts = {0};
	LodeAccessFacts bounded = {0};

	lode_access_facts_add(&bounded, &facts, UINT64_MAX, 8, 1);
	lode_access_facts_add(&bounded, &facts, UINT64_MAX ^ UINT64_C(1) << 63, 1, 1);
	lode_access_facts_add(&bounded, &facts, 0, UINT32_MAX, 1);
	lode_access_facts_finish(&bounded, &facts);
	g_assert_cmpuint(facts.accesses, ==, 3);
	g_assert_cmpuint(facts.strided, ==, 1);
	lode_access_facts_clear(&bounded);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test(
		"/access_facts/random", test_random, "R02S1b5b0ad8b2b2c0d4d7c1f0a5e38d6c72", NULL);
	g_test_add_data_func("/access_facts/walk/8", GSIZE_TO_POINTER(8), test_walk);
	g_test_add_data_func("/access_facts/walk/64", GSIZE_TO_POINTER(64), test_walk);
	g_test_add_data_func("/access_facts/walk/4096", GSIZE_TO_POINTER(4096), test_walk);
	g_test_add_data_func("/access_facts/walk/backward", GSIZE_TO_POINTER(1), test_walk);
	g_test_add_func("/access_facts/ends", test_ends);
	return g_test_run();
}
