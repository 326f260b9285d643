/* SPDX-License-Identifier: MIT */
/*
 * How fast a histogram takes accesses, against SQLite's GROUP BY over the same accesses in memory,
 * and against a GHashTable of cells. All three must agree.
 *
 *   address_histogram [ACCESSES]      10,000,000 unless given
 */
#include "analyses/memory/cells/address_histogram.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N_ACCESSES = 10000000, N_THREADS = 8, N_PAGES = 20000 };

typedef struct {
	uint64_t address;
	uint32_t thread;
	uint8_t access;
} Access;

/* The processor's time, which other programs on the machine do not add to. */
static double seconds_since(clock_t start)
{
	return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Half of all accesses in a tenth of the pages, as programs have it. */
static Access *make_accesses(uint32_t n)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);
	Access *accesses = g_new(Access, n);

	for (uint32_t i = 0; i < n; i++) {
		int pages = g_rand_boolean(rand) ? N_PAGES / 10 : N_PAGES;
		uint64_t page = (uint64_t)g_rand_int_range(rand, 0, pages);
		accesses[i].address = UINT64_C(0x7f0000000000) + page * LODE_PAGE_BYTES +
		                      (g_rand_int(rand) & 0xff8);
		accesses[i].thread = g_rand_int(rand) % N_THREADS;
		accesses[i].access = (uint8_t)(1 + (g_rand_int(rand) & 1));
	}
	return accesses;
}

static void report(const char *name, uint32_t n, double seconds, double own)
{
	printf("%-28s %8.3f s  %6.1f M accesses/s  %5.1f× lode's time\n", name, seconds,
		n / seconds / 1e6, seconds / own);
}

static double run_lode(const Access *accesses, uint32_t n, uint64_t *out_sum)
{
	g_autoptr(LodeAddressHistogram) histogram = lode_address_histogram_new(LODE_PAGE_BYTES);
	clock_t start = clock();
	size_t n_cells;

	for (uint32_t i = 0; i < n; i++)
		lode_address_histogram_add(
			histogram, accesses[i].thread, accesses[i].address, accesses[i].access, 1);
	const LodeHistogramCell *cells = lode_address_histogram_cells(histogram, &n_cells);
	double seconds = seconds_since(start);
	for (size_t i = 0; i < n_cells; i++)
		*out_sum += cells[i].n_loads * (i + 1);
	printf("%u accesses in %zu cells\n", n, n_cells);
	return seconds;
}

static guint hash_cell(const void *key)
{
	const LodeHistogramCell *cell = key;

	return (guint)((cell->address + cell->thread) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static gboolean equal_cells(const void *a, const void *b)
{
	const LodeHistogramCell *left = a, *right = b;

	return left->address == right->address && left->thread == right->thread;
}

static double run_glib(const Access *accesses, uint32_t n)
{
	g_autoptr(GHashTable) cells = g_hash_table_new_full(hash_cell, equal_cells, g_free, NULL);
	clock_t start = clock();

	for (uint32_t i = 0; i < n; i++) {
		LodeHistogramCell key = {.address = accesses[i].address & ~UINT64_C(0xfff),
			.thread = accesses[i].thread};
		LodeHistogramCell *cell = g_hash_table_lookup(cells, &key);
		if (cell == NULL) {
			cell = g_memdup2(&key, sizeof(key));
			g_hash_table_add(cells, cell);
		}
		cell->n_accesses++;
		cell->n_loads += accesses[i].access & 1;
		cell->n_stores += accesses[i].access >> 1 & 1;
		cell->weight += 1;
	}
	return seconds_since(start);
}

static sqlite3 *fill_table(const Access *accesses, uint32_t n)
{
	sqlite3 *database = NULL;
	sqlite3_stmt *insert = NULL;

	sqlite3_open(":memory:", &database);
	sqlite3_exec(database,
		"CREATE TABLE access (thread INT, address INT, loads INT, stores INT, weight "
		"REAL); BEGIN",
		NULL, NULL, NULL);
	sqlite3_prepare_v2(
		database, "INSERT INTO access VALUES (?, ?, ?, ?, 1)", -1, &insert, NULL);
	for (uint32_t i = 0; i < n; i++) {
		sqlite3_bind_int64(insert, 1, accesses[i].thread);
		sqlite3_bind_int64(insert, 2, (sqlite3_int64)accesses[i].address);
		sqlite3_bind_int(insert, 3, accesses[i].access & 1);
		sqlite3_bind_int(insert, 4, accesses[i].access >> 1 & 1);
		sqlite3_step(insert);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
	return database;
}

/* The query alone: the rows are in the table already. */
static double run_sqlite(const Access *accesses, uint32_t n, uint64_t *out_sum)
{
	sqlite3 *database = fill_table(accesses, n);
	sqlite3_stmt *query = NULL;
	uint64_t number = 0;

	clock_t start = clock();
	sqlite3_prepare_v2(database,
		"SELECT thread, address >> 12 AS page, sum(loads), sum(stores), sum(weight) "
		"FROM access GROUP BY thread, page ORDER BY thread, page",
		-1, &query, NULL);
	while (sqlite3_step(query) == SQLITE_ROW)
		*out_sum += (uint64_t)sqlite3_column_int64(query, 2) * ++number;
	double seconds = seconds_since(start);
	sqlite3_finalize(query);
	sqlite3_close(database);
	return seconds;
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : N_ACCESSES;
	g_autofree Access *accesses = make_accesses(n);
	uint64_t sum = 0, sqlite_sum = 0;
	double own = run_lode(accesses, n, &sum);

	report("lode", n, own, own);
	report("GHashTable (unsorted)", n, run_glib(accesses, n), own);
	report("SQLite GROUP BY, in memory", n, run_sqlite(accesses, n, &sqlite_sum), own);
	if (sum == sqlite_sum)
		return EXIT_SUCCESS;
	fprintf(stderr, "lode and SQLite disagree\n");
	return EXIT_FAILURE;
}
