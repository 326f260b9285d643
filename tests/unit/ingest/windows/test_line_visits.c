/* SPDX-License-Identifier: MIT */
/* Visits of lines against a naive search of all that was accessed. */
#include "ingest/windows/access_visits.h"

#include "seeds.h"

#include <string.h>

enum { CODES = 4, LINES = 6, MOST = 60 };

typedef struct {
	uint32_t number; /* UINT32_MAX: none */
	uint32_t size;   /* 0: its address is not known */
	uint64_t address;
} Access;

typedef struct {
	unsigned n[CODES], n_bytes[CODES];
} Sums;

static void put(void *data, uint32_t number, unsigned n_bytes)
{
	Sums *sums = data;

	g_assert_cmpuint(number, <, CODES);
	sums->n[number]++;
	sums->n_bytes[number] += n_bytes;
}

static unsigned used_bytes(const Access *accesses, unsigned n, uint64_t line)
{
	bool is_used[64] = {false};
	unsigned n_used = 0;

	for (unsigned i = 0; i < n; i++)
		for (uint32_t byte = 0; byte < accesses[i].size; byte++)
			if ((accesses[i].address + byte) / 64 == line)
				is_used[(accesses[i].address + byte) % 64] = true;
	for (unsigned i = 0; i < 64; i++)
		n_used += is_used[i];
	return n_used;
}

/* For each access of a code: did it come from another line, and does it go to another one? */
static Sums naive(const Access *accesses, unsigned n)
{
	Sums sums = {{0}, {0}};

	for (uint32_t code = 0; code < CODES; code++) {
		bool has_begun = false, is_known = false;
		uint64_t line = 0;
		for (unsigned i = 0; i < n; i++) {
			const Access *it = &accesses[i];
			if (it->number != code)
				continue;
			if (it->size == 0) {
				is_known = false;
				continue;
			}
			if (is_known && it->address / 64 == line)
				continue;
			if (is_known && has_begun) {
				sums.n[code]++;
				sums.n_bytes[code] += used_bytes(accesses, n, line);
			}
			has_begun = is_known;
			is_known = true;
			line = it->address / 64;
		}
	}
	return sums;
}

static Access draw(void)
{
	static const uint32_t sizes[] = {1, 4, 8, 32, 64, 100};
	Access drawn = {
		.number = random_int_range(0, 5) == 0 ? UINT32_MAX
	                                              : (uint32_t)random_int_range(0, CODES),
		.size = sizes[random_int_range(0, G_N_ELEMENTS(sizes))],
		.address = 64 * (uint64_t)random_int_range(0, LINES) +
	                   8 * (uint64_t)random_int_range(0, 8),
	};

	if (drawn.number != UINT32_MAX && random_int_range(0, 12) == 0)
		drawn.size = 0;
	return drawn;
}

static void test_random(void)
{
	g_auto(LodeLineVisits) visits;
	unsigned n_visits = 0;

	lode_line_visits_init(&visits);
	for (unsigned k = random_rounds(2000, 100000); k > 0; k--) {
		Access accesses[MOST];
		unsigned n = (unsigned)random_int_range(0, MOST);
		Sums sums = {{0}, {0}};
		for (unsigned i = 0; i < n; i++) {
			accesses[i] = draw();
			if (accesses[i].size == 0)
				lode_line_visits_break(&visits, accesses[i].number);
			else
				lode_line_visits_add(&visits, accesses[i].number,
					accesses[i].address, accesses[i].size);
		}
		lode_line_visits_end(&visits, put, &sums);
		Sums expected = naive(accesses, n);
		for (unsigned code = 0; code < CODES; code++) {
			g_assert_cmpuint(sums.n[code], ==, expected.n[code]);
			g_assert_cmpuint(sums.n_bytes[code], ==, expected.n_bytes[code]);
			n_visits += sums.n[code];
		}
	}
	g_assert_cmpuint(n_visits, >, 1000);
}

/* An array of words from one end to the other uses all; every sixteenth word only its own. */
static void test_walks(void)
{
	for (uint64_t step = 4; step <= 64; step *= 16) {
		g_auto(LodeLineVisits) visits;
		Sums sums = {{0}, {0}};
		lode_line_visits_init(&visits);
		for (uint64_t i = 0; i < 200; i++)
			lode_line_visits_add(&visits, 0, 4096 + i * step, 4);
		lode_line_visits_end(&visits, put, &sums);
		g_assert_cmpuint(sums.n[0], >, 10);
		g_assert_cmpuint(sums.n_bytes[0], ==, sums.n[0] * (step == 4 ? 64 : 4));
	}
}

/* Addresses at the ends of the address space, and sizes without end. */
static void test_extremes(void)
{
	g_auto(LodeLineVisits) visits;
	Sums sums = {{0}, {0}};

	lode_line_visits_init(&visits);
	lode_line_visits_add(&visits, 0, UINT64_MAX, 8);
	lode_line_visits_add(&visits, 0, 0, UINT32_MAX);
	lode_line_visits_add(&visits, 0, UINT64_MAX - 64, 1);
	lode_line_visits_add(&visits, 1, 0, 0);
	lode_line_visits_break(&visits, 1000000);
	lode_line_visits_end(&visits, put, &sums);
	g_assert_cmpuint(sums.n[0], ==, 1);
	g_assert_cmpuint(sums.n_bytes[0], ==, 64);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/line-visits/random", test_random);
	g_test_add_func("/line-visits/walks", test_walks);
	g_test_add_func("/line-visits/extremes", test_extremes);
	return g_test_run();
}
