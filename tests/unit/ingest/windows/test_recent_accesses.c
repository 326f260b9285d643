/* SPDX-License-Identifier: MIT */
/* Reuse of lines and of stores against naive answers, out of all that was accessed. */
#include "ingest/windows/recent_accesses.h"

#include "seeds.h"

typedef struct {
	uint64_t address;
	uint32_t size, step;
	bool is_store;
} Access;

/* The first level of the round. */
static uint32_t n_sets, n_ways;

/* Whether line is used again, after more lines of its set than the set holds and fewer than half of
 * all; `used` has all lines so far, in their order. */
static bool is_naive_conflict(const GArray *used, uint64_t line)
{
	g_autoptr(GHashTable) between = g_hash_table_new(NULL, NULL);
	guint n_of_set = 0;

	for (guint i = used->len; i-- > 0;) {
		uint64_t other = g_array_index(used, uint64_t, i);
		if (other == line)
			return n_of_set >= n_ways &&
			       g_hash_table_size(between) < n_sets * n_ways / 2;
		if (g_hash_table_add(between, GSIZE_TO_POINTER(other)))
			n_of_set += other % n_sets == line % n_sets;
	}
	return false;
}

/* Which store wrote each byte of a load last, within so many steps. */
static const Access *naive_store(const GArray *accesses, const Access *load, bool *out_is_whole)
{
	const Access *found = NULL;

	for (guint i = accesses->len; found == NULL && i-- > 0;) {
		const Access *it = &g_array_index(accesses, Access, i);
		if (!it->is_store || load->step - it->step > LODE_RECENT_STEPS)
			continue;
		for (uint32_t byte = 0; byte < load->size; byte++)
			if (load->address + byte - it->address < it->size)
				found = it;
	}
	*out_is_whole = found != NULL;
	for (uint32_t byte = 0; found != NULL && byte < load->size; byte++)
		*out_is_whole &= load->address + byte - found->address < found->size;
	return found;
}

typedef struct {
	unsigned n_conflicts, n_whole, n_part;
} Tally;

static void check(const Access *access, LodeRecentAccesses *recent, GArray *accesses, GArray *used,
	Tally *tally)
{
	bool is_conflict = false, is_whole, is_naively_whole;
	uint64_t first = access->address / LODE_RECENT_LINE;
	uint64_t last = (access->address + access->size - 1) / LODE_RECENT_LINE;

	for (uint64_t line = first; line <= last; line++) {
		is_conflict |= is_naive_conflict(used, line);
		g_array_append_val(used, line);
	}
	g_assert_cmpint(
		lode_recent_accesses_use(recent, access->address, access->size), ==, is_conflict);
	tally->n_conflicts += is_conflict;
	if (!access->is_store) {
		const Access *expected = naive_store(accesses, access, &is_naively_whole);
		const LodeRecentStore *found = lode_recent_accesses_find_store(
			recent, access->address, access->size, access->step, &is_whole);
		g_assert_cmpint(found != NULL, ==, expected != NULL);
		if (found != NULL) {
			g_assert_cmpuint(found->step, ==, expected->step);
			g_assert_cmpint(is_whole, ==, is_naively_whole);
			tally->n_whole += is_whole;
			tally->n_part += !is_whole;
		}
	} else {
		lode_recent_accesses_store(recent, access->address, access->size, access->step);
	}
	g_array_append_vals(accesses, access, 1);
}

static void test_random(void)
{
	g_autofree LodeRecentAccesses *recent = g_new(LodeRecentAccesses, 1);
	Tally tally = {0};

	for (unsigned round = 0; round < random_rounds(40, 400); round++) {
		g_autoptr(GArray) accesses = g_array_new(FALSE, FALSE, sizeof(Access));
		g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		/* of so many lines, and in few sets or all of them */
		gint32 n_lines = random_int_range(4, 700);
		uint64_t line_bytes = random_bit() ? 4096 : 64;
		Access access = {.step = 0};
		n_sets = 1u << random_int_range(4, 7);
		n_ways = (uint32_t)random_int_range(1, 17);
		lode_recent_accesses_begin(recent, n_sets, n_ways);
		for (unsigned i = 0; i < 1000; i++) {
			access.step += (uint32_t)random_int_range(1, 4);
			access.is_store = random_bit();
			access.size = (uint32_t)random_int_range(1, random_bit() ? 9 : 70);
			access.address = (UINT64_C(1) << 33) +
			                 line_bytes * (uint64_t)random_int_range(0, n_lines) +
			                 (uint64_t)random_int_range(0, 16);
			check(&access, recent, accesses, used, &tally);
		}
	}
	g_assert_cmpuint(tally.n_conflicts, >, 50);
	g_assert_cmpuint(tally.n_whole, >, 50);
	g_assert_cmpuint(tally.n_part, >, 50);
}

/* A column of a matrix: nine lines of one set evict one another, eight do not; and 300 lines of all
 * sets are too many for half a cache, but that is no conflict. */
static void test_column(void)
{
	g_autofree LodeRecentAccesses *recent = g_new(LodeRecentAccesses, 1);

	/* 65 sets are none, 128 and 17 ways are none of ours: 64 and 8 are taken */
	static const uint32_t unusable[][2] = {
		{0, 0}, {65, 8}, {128, 8}, {64, 17}, {64, 0}, {1, 1}};
	for (unsigned i = 0; i < G_N_ELEMENTS(unusable); i++) {
		lode_recent_accesses_begin(recent, unusable[i][0], unusable[i][1]);
		g_assert_cmpuint(recent->n_sets, ==, 64);
		g_assert_cmpuint(recent->n_ways, ==, 8);
	}
	for (unsigned n = 8; n <= 9; n++) {
		lode_recent_accesses_forget(recent);
		for (unsigned i = 0; i < 10 * n; i++)
			g_assert_cmpint(
				lode_recent_accesses_use(recent, 4096 * (uint64_t)(i % n), 8), ==,
				n == 9 && i >= n);
	}
	lode_recent_accesses_forget(recent);
	for (unsigned i = 0; i < 3000; i++)
		g_assert_false(lode_recent_accesses_use(recent, 64 * (uint64_t)(i % 300), 8));
}

/* Two bytes stored by one and then loaded as a word. */
static void test_word(void)
{
	g_autofree LodeRecentAccesses *recent = g_new0(LodeRecentAccesses, 1);
	bool is_whole;

	lode_recent_accesses_store(recent, 1000, 4, 1);
	lode_recent_accesses_store(recent, 1000, 1, 2);
	g_assert_cmpuint(
		lode_recent_accesses_find_store(recent, 1000, 2, 3, &is_whole)->step, ==, 2);
	g_assert_false(is_whole);
	g_assert_cmpuint(
		lode_recent_accesses_find_store(recent, 1001, 2, 3, &is_whole)->step, ==, 1);
	g_assert_true(is_whole);
	g_assert_null(lode_recent_accesses_find_store(recent, 1004, 8, 3, &is_whole));
	g_assert_null(lode_recent_accesses_find_store(recent, 1000, 2, 103, &is_whole));
	lode_recent_accesses_forget(recent);
	g_assert_null(lode_recent_accesses_find_store(recent, 1000, 2, 3, &is_whole));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/recent_accesses/random", test_random,
		"R02S40c9e1a7d33b5f218c6604d9b7e2f51a", NULL);
	g_test_add_func("/recent_accesses/column", test_column);
	g_test_add_func("/recent_accesses/word", test_word);
	return g_test_run();
}
