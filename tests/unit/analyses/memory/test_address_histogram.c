/* SPDX-License-Identifier: MIT */
/* The histogram against a naive one that searches a list, on random accesses. */
#include "analyses/memory/cells/address_histogram.h"
#include "analyses/memory/page_faults.h"
#include "model/memory.h"

#include "sample_profile.h"
#include "seeds.h"

#include <stdlib.h>

enum { RANDOM_CASES = 60 };

typedef struct {
	GArray *cells; /* LodeHistogramCell */
	uint64_t granularity;
} Naive;

static void naive_add(
	Naive *naive, uint32_t thread, uint64_t address, uint8_t access, double weight)
{
	uint64_t first = address / naive->granularity * naive->granularity;
	LodeHistogramCell *found = NULL;

	for (guint i = 0; i < naive->cells->len && found == NULL; i++) {
		LodeHistogramCell *cell = &LODE_AT(naive->cells, LodeHistogramCell, i);
		if (cell->address == first && cell->thread == thread)
			found = cell;
	}
	if (found == NULL) {
		LodeHistogramCell cell = {.address = first, .thread = thread};
		g_array_append_val(naive->cells, cell);
		found = &LODE_AT(naive->cells, LodeHistogramCell, naive->cells->len - 1);
	}
	found->n_accesses++;
	found->n_loads += access & 1;
	found->n_stores += access >> 1 & 1;
	found->weight += weight;
}

static int compare(const void *a, const void *b)
{
	const LodeHistogramCell *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	return left->address < right->address ? -1 : left->address > right->address;
}

static void assert_cells(const Naive *naive, const LodeHistogramCell *cells, size_t n)
{
	g_assert_cmpuint(n, ==, naive->cells->len);
	if (n > 0)
		qsort(naive->cells->data, n, sizeof(LodeHistogramCell), compare);
	for (size_t i = 0; i < n; i++) {
		const LodeHistogramCell *expected = &LODE_AT(naive->cells, LodeHistogramCell, i);
		g_assert_cmphex(cells[i].address, ==, expected->address);
		g_assert_cmpuint(cells[i].thread, ==, expected->thread);
		g_assert_cmpuint(cells[i].n_accesses, ==, expected->n_accesses);
		g_assert_cmpuint(cells[i].n_loads, ==, expected->n_loads);
		g_assert_cmpuint(cells[i].n_stores, ==, expected->n_stores);
		g_assert_cmpfloat(cells[i].weight, ==, expected->weight);
	}
}

/* Around one of a few far-apart places, the ends of the address space among them. */
static uint64_t random_address(GRand *rand)
{
	static const uint64_t bases[] = {0, 0x10000000, 0x7f0000000000, UINT64_MAX - 0xffff};
	uint64_t base = bases[g_rand_int_range(rand, 0, G_N_ELEMENTS(bases))];

	return base + (g_rand_int(rand) & 0xffff);
}

static void check_random(uint32_t seed)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(soak_seed(seed));
	uint64_t granularity = UINT64_C(1) << g_rand_int_range(rand, 0, seed % 2 == 0 ? 13 : 50);
	g_autoptr(LodeAddressHistogram) histogram = lode_address_histogram_new(granularity);
	g_autoptr(GArray) each = g_array_new(FALSE, FALSE, sizeof(LodeHistogramCell));
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(LodeHistogramCell));
	Naive naive = {each, granularity}, totals = {all, granularity};
	gint32 n = g_rand_int_range(rand, 0, 3000);
	size_t n_cells;

	for (gint32 i = 0; i < n; i++) {
		uint32_t thread = (uint32_t)g_rand_int_range(rand, 0, 7);
		uint64_t address = random_address(rand);
		uint8_t access = (uint8_t)g_rand_int_range(rand, 0, 4);
		/* Whole numbers: sums are exact in any order. */
		double weight = g_rand_int_range(rand, 1, 1000);
		lode_address_histogram_add(histogram, thread, address, access, weight);
		naive_add(&naive, thread, address, access, weight);
		naive_add(&totals, LODE_NONE, address, access, weight);
		if (i == n / 2) /* asking must not disturb what is added later */
			lode_address_histogram_totals(histogram, &n_cells);
	}
	const LodeHistogramCell *cells = lode_address_histogram_cells(histogram, &n_cells);
	assert_cells(&naive, cells, n_cells);
	cells = lode_address_histogram_totals(histogram, &n_cells);
	assert_cells(&totals, cells, n_cells);
}

static void test_random(void)
{
	for (uint32_t seed = 1; seed <= RANDOM_CASES; seed++)
		check_random(seed);
}

static void test_samples(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 0x10000);
	g_autoptr(LodeAddressHistogram) histogram = lode_address_histogram_new(4096);
	const uint32_t chosen[] = {0, 1, 3, 4};
	size_t n;

	sample_profile_access(profile, 1, SAMPLE_ANON + 5000, LODE_ACCESS_LOAD, 0)->weight = 2;
	sample_profile_fault(profile, 1, SAMPLE_ANON + 5000, 1, 0);
	sample_profile_access(profile, 1, SAMPLE_ANON + 5000, LODE_ACCESS_LOAD, 0);
	sample_profile_unresolved(profile, 0, LODE_REASON_TLS);
	sample_profile_access(
		profile, 0, SAMPLE_ANON + 8191, LODE_ACCESS_LOAD | LODE_ACCESS_STORE, 0);
	lode_address_histogram_add_samples(histogram, profile, chosen, G_N_ELEMENTS(chosen));

	const LodeHistogramCell *cells = lode_address_histogram_cells(histogram, &n);
	g_assert_cmpuint(n, ==, 2);
	g_assert_cmphex(cells[0].address, ==, SAMPLE_ANON + 4096);
	g_assert_cmpuint(cells[0].thread, ==, 0);
	g_assert_cmpuint(cells[0].n_accesses, ==, 1);
	g_assert_cmpuint(cells[0].n_loads + cells[0].n_stores, ==, 2);
	g_assert_cmpuint(cells[1].thread, ==, 1);
	g_assert_cmpfloat(cells[1].weight, ==, 2);
	cells = lode_address_histogram_totals(histogram, &n);
	g_assert_cmpuint(n, ==, 1);
	g_assert_cmpuint(cells[0].thread, ==, LODE_NONE);
	g_assert_cmpuint(cells[0].n_loads, ==, 2);
	g_assert_cmpfloat(cells[0].weight, ==, 3);
}

static void test_empty(void)
{
	g_autoptr(LodeAddressHistogram) histogram = lode_address_histogram_new(1);
	size_t n = 7;

	lode_address_histogram_cells(histogram, &n);
	g_assert_cmpuint(n, ==, 0);
	lode_address_histogram_totals(histogram, &n);
	g_assert_cmpuint(n, ==, 0);
	lode_address_histogram_add(histogram, 3, UINT64_MAX, LODE_ACCESS_STORE, 1);
	const LodeHistogramCell *cells = lode_address_histogram_cells(histogram, &n);
	g_assert_cmpuint(n, ==, 1);
	g_assert_cmphex(cells[0].address, ==, UINT64_MAX);
}

static void test_fault_events(void)
{
	static const struct {
		const char *name;
		bool is_fault;
	} cases[] = {
		{"page-faults", true},
		{"page-faults:u", true},
		{"minor-faults", true},
		{"faults", true},
		{"page-faults-x", false},
		{"page", false},
		{"cpu-clock", false},
	};
	g_autoptr(LodeProfile) profile = lode_profile_new();

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint32_t event = lode_profile_add_event(
			profile, cases[i].name, NULL, LODE_EVENT_SAMPLED, NULL, 0);
		g_assert_cmpint(lode_page_faults_is_event(profile, event), ==, cases[i].is_fault);
	}
	g_assert_false(lode_page_faults_is_event(profile, LODE_NONE));
}

static void test_granularities(void)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 0: refused */
	} cases[] = {
		{"page", 4096},
		{"line", 64},
		{"word", 8},
		{"1", 1},
		{"4096", 4096},
		{"64K", 65536},
		{"2M", 2097152},
		{"1G", 1073741824},
		{"1024G", UINT64_C(1) << 40},
		{"2048G", 0},
		{"0", 0},
		{"", 0},
		{"3", 0},
		{"-8", 0},
		{" 8", 0},
		{"8 ", 0},
		{"8KB", 0},
		{"8k", 0},
		{"99999999999999999999", 0},
		{"pages", 0},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint64_t bytes = 7;
		bool is_known = lode_address_granularity_from_text(cases[i].text, &bytes);
		g_assert_cmpint(is_known, ==, cases[i].bytes != 0);
		g_assert_cmpuint(bytes, ==, is_known ? cases[i].bytes : 7);
	}
	g_assert_cmpstr(lode_address_granularity_name(64), ==, "line");
	g_assert_cmpstr(lode_address_granularity_name(128), ==, "cell");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/address_histogram/random", test_random);
	g_test_add_func("/address_histogram/samples", test_samples);
	g_test_add_func("/address_histogram/empty", test_empty);
	g_test_add_func("/page_faults/events", test_fault_events);
	g_test_add_func("/address_histogram/granularities", test_granularities);
	return g_test_run();
}
