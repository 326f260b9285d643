/* SPDX-License-Identifier: MIT */
/* Facts of addresses against naive counts, and of draws from a known number of pages. */
#include "ingest/join/attributes/address_facts.h"

#include "machine/tlb_sizes.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

enum { MOST = 4000 };

/* --- counts --- */

static void draw(LodeAddressDraw *draws, uint32_t n, uint32_t n_pages)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t page = (uint64_t)random_int_range(0, (gint32)n_pages);
		draws[i] = (LodeAddressDraw){
			.page = page,
			.address = page * 4096 + 8 * (uint64_t)random_int_range(0, 3),
			.time_ns = (uint64_t)random_int_range(0, 1000000),
			.thread = (uint32_t)random_int_range(0, 3),
			.is_of_time = random_int_range(0, 4) > 0,
		};
	}
}

static void test_pairs(void)
{
	for (unsigned k = random_rounds(300, 10000); k > 0; k--) {
		LodeAddressDraw draws[60];
		uint32_t n = (uint32_t)random_int_range(0, 60);
		uint64_t n_pairs = 0;
		draw(draws, n, 20);
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < i; j++)
				n_pairs += draws[i].page == draws[j].page;
		g_assert_cmpuint(lode_address_facts_count_pairs(draws, n), ==, n_pairs);
	}
}

/* The sample of time before another one in its thread; NULL: none. Times differ. */
static const LodeAddressDraw *find_before(
	const LodeAddressDraw *draws, uint32_t n, const LodeAddressDraw *of)
{
	const LodeAddressDraw *found = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (draws[i].is_of_time && draws[i].thread == of->thread &&
			draws[i].time_ns < of->time_ns &&
			(found == NULL || found->time_ns < draws[i].time_ns))
			found = &draws[i];
	return found;
}

static void test_moves(void)
{
	for (unsigned k = random_rounds(300, 10000); k > 0; k--) {
		LodeAddressDraw draws[40];
		uint32_t n = (uint32_t)random_int_range(0, 40), n_up = 0, n_down = 0;
		draw(draws, n, 3);
		for (uint32_t i = 0; i < n; i++)
			draws[i].time_ns = draws[i].time_ns * 64 + i;
		for (uint32_t i = 0; i < n; i++) {
			const LodeAddressDraw *before = draws[i].is_of_time
			                                        ? find_before(draws, n, &draws[i])
			                                        : NULL;
			if (before == NULL)
				continue;
			n_up += draws[i].address > before->address;
			n_down += draws[i].address < before->address;
		}
		LodeAddressMoves moves = lode_address_facts_moves(draws, n);
		g_assert_cmpuint(moves.n_up, ==, n_up);
		g_assert_cmpuint(moves.n_down, ==, n_down);
	}
}

/* Of 1,000 rounds with equally likely pages the bound is above the truth in at most 25, and some
 * more by chance (five standard errors); from many draws it is near to it. */
static void test_least_pages(void)
{
	g_autofree LodeAddressDraw *draws = g_new(LodeAddressDraw, MOST);
	unsigned n_above = 0;

	for (unsigned k = 0; k < 1000; k++) {
		uint32_t n_pages = (uint32_t)random_int_range(8, 4096);
		uint32_t n = (uint32_t)random_int_range(2, 300);
		draw(draws, n, n_pages);
		uint64_t n_pairs = lode_address_facts_count_pairs(draws, n);
		n_above += lode_address_facts_least_pages(n, n_pairs) > n_pages;
	}
	g_assert_cmpuint(n_above, <=, 25 + 25);
	draw(draws, MOST, 16384);
	uint64_t n_pairs = lode_address_facts_count_pairs(draws, MOST);
	double least = lode_address_facts_least_pages(MOST, n_pairs);
	g_assert_cmpfloat(least, >, 0.7 * 16384);
	g_assert_cmpfloat(least, <, 1.2 * 16384);
	g_assert_cmpfloat(lode_address_facts_least_pages(0, 0), ==, 0);
	g_assert_cmpfloat(lode_address_facts_least_pages(1, 0), ==, 0);
}

/* --- attributes --- */

static bool has(const LodeAddressEvidence *evidence, const char *wanted)
{
	char texts[LODE_ADDRESS_FACTS_MOST][LODE_ADDRESS_FACT_SIZE];
	unsigned n = lode_address_facts_make(evidence, texts);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(texts[i], wanted) == 0)
			return true;
	return false;
}

static bool has_any(const LodeAddressEvidence *evidence, const char *name_space)
{
	char texts[LODE_ADDRESS_FACTS_MOST][LODE_ADDRESS_FACT_SIZE];
	unsigned n = lode_address_facts_make(evidence, texts);

	for (unsigned i = 0; i < n; i++)
		if (g_str_has_prefix(texts[i], name_space))
			return true;
	return false;
}

static void test_strides(void)
{
	LodeObservedInstruction windows = {.accesses = 100, .strided = 50, .stride = -4096};
	const LodeAddressEvidence evidence = {.windows = &windows, .reach = 2048};

	g_assert_true(has(&evidence, "stride:-4096"));
	windows.strided = 49;
	g_assert_false(has_any(&evidence, "stride:"));
	windows.strided = 24;
	g_assert_true(has(&evidence, "stride:none"));
	windows.repeated = 50;
	g_assert_true(has(&evidence, "stride:0"));
	windows = (LodeObservedInstruction){.accesses = 7, .strided = 6, .stride = 8};
	g_assert_false(has_any(&evidence, "stride:"));
	windows = (LodeObservedInstruction){.accesses = 8, .strided = 4, .stride = 8};
	g_assert_true(has(&evidence, "stride:8"));
	windows = (LodeObservedInstruction){.accesses = 15};
	g_assert_false(has_any(&evidence, "stride:"));
	windows.accesses = 16;
	g_assert_true(has(&evidence, "stride:none"));
}

/* The code knows better than windows how a walk goes on, and that it goes on at all. */
static void test_strides_of_code(void)
{
	LodeObservedInstruction windows = {.accesses = 100};
	LodeAddressEvidence evidence = {
		.windows = &windows, .reach = 2048, .walk = {.is_equal = true}};

	g_assert_true(has(&evidence, "stride:equal"));
	g_assert_false(has(&evidence, "stride:none"));
	windows.strided = 50;
	windows.stride = 24;
	g_assert_true(has(&evidence, "stride:24"));
	windows.strided = 0;
	evidence.walk = (LodeLoopStride){.is_known = true, .stride = -24};
	g_assert_true(has(&evidence, "stride:-24"));
	g_assert_false(has(&evidence, "stride:equal"));
	evidence.windows = NULL;
	g_assert_true(has(&evidence, "stride:-24"));
	evidence.walk.stride = 0; /* address:invariant says so */
	g_assert_false(has_any(&evidence, "stride:"));
	windows.repeated = 50;
	evidence.windows = &windows;
	g_assert_true(has(&evidence, "stride:0"));
}

static void test_lines(void)
{
	LodeObservedInstruction windows = {
		.accesses = 100, .line_visits = 16, .line_used_bytes = 16 * 32};
	LodeAddressPool pool = {.line_visits = 16, .line_used_bytes = 16 * 64};
	LodeAddressEvidence evidence = {.windows = &windows, .pool = &pool, .reach = 2048};

	g_assert_true(has(&evidence, "lines:partly-used"));
	windows.line_used_bytes = 16 * 33;
	g_assert_false(has_any(&evidence, "lines:"));
	windows.line_used_bytes = 16 * 48;
	g_assert_true(has(&evidence, "lines:used"));
	windows.line_visits = 15; /* too few of its own: those of the object */
	windows.line_used_bytes = 0;
	g_assert_true(has(&evidence, "lines:used"));
	evidence.pool = NULL;
	g_assert_false(has_any(&evidence, "lines:"));
}

/* Lines of which four bytes are used at a time: all of them, where the accesses lie that close. */
static void test_density(void)
{
	LodeAddressDraw draws[9];
	LodeObservedInstruction windows = {
		.accesses = 100, .line_visits = 16, .line_used_bytes = 16 * 6};
	LodeAddressEvidence evidence = {.windows = &windows, .draws = draws, .n = 9, .reach = 2048};
	static const uint64_t places[9] = {7, 2, 90, 41, 13, 58, 77, 30, 9};
	static const struct {
		uint64_t step;
		bool is_dense;
	} cases[] = {{1, true}, {4, true}, {8, true}, {9, false}, {40, false}, {128, false}};

	for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
		draw(draws, 9, 100);
		for (unsigned i = 0; i < 9; i++)
			draws[i].address = 4096 + places[i] * cases[k].step;
		g_assert_true(has(&evidence, "lines:partly-used"));
		g_assert_true(has(&evidence, "lines:dense") == cases[k].is_dense);
		g_assert_true(has(&evidence, "lines:apart") != cases[k].is_dense);
	}
	for (unsigned i = 0; i < 9; i++) {
		draws[i].address = 4096 + places[i] * 16;
		draws[i].size = i == 3 ? 16 : 8; /* more than is used of lines on average */
	}
	g_assert_true(has(&evidence, "lines:dense"));
	evidence.n = 7; /* too few */
	g_assert_false(has(&evidence, "lines:dense") || has(&evidence, "lines:apart"));
	evidence.n = 9;
	for (unsigned i = 0; i < 9; i++)
		draws[i].address = 4096;
	g_assert_false(has(&evidence, "lines:dense") || has(&evidence, "lines:apart"));
}

/* Used bytes by the code count where windows tell nothing. */
static void test_lines_of_code(void)
{
	LodeObservedInstruction windows = {.line_visits = 15};
	LodeAddressEvidence evidence = {.windows = &windows,
		.reach = 2048,
		.walk = {.is_known = true, .stride = 112, .used = 0.125}};

	g_assert_true(has(&evidence, "lines:partly-used"));
	evidence.windows = NULL;
	g_assert_true(has(&evidence, "lines:partly-used"));
	evidence.walk.used = 0.34;
	g_assert_false(has_any(&evidence, "lines:"));
	evidence.walk.used = 0;
	g_assert_false(has_any(&evidence, "lines:"));
	evidence.walk.used = 0.125;
	windows.line_visits = 16; /* which know better */
	windows.line_used_bytes = 16 * 60;
	evidence.windows = &windows;
	g_assert_true(has(&evidence, "lines:used"));
}

/* Byte by byte, of structures that lie one after the other from an address on. */
static void test_used_bytes(void)
{
	bool are_used[200];

	for (unsigned k = random_rounds(2000, 100000); k > 0; k--) {
		uint32_t size = (uint32_t)random_int_range(1, 200);
		uint64_t start = 100000 + (uint64_t)random_int_range(0, 1000);
		uint64_t offset = (uint64_t)random_int_range(0, (gint32)size);
		uint64_t address = start + size * (uint64_t)random_int_range(3, 9) + offset;
		int n = 0;
		for (uint32_t i = 0; i < size; i++)
			are_used[i] = random_int_range(0, 4) == 0;
		for (uint64_t at = start; at < address + 400; at++)
			n += at / 64 == address / 64 && are_used[(at - start) % size];
		for (uint64_t at = start - 1; at / 64 == address / 64; at--)
			n += are_used[size - 1 - (start - 1 - at) % size];
		g_assert_cmpint(lode_used_bytes_of_line(are_used, size, offset, address), ==, n);
	}
}

/* Half of them without a used byte but the first; the order of draws changes with each question. */
static void set_used(LodeAddressDraw draws[8], int first)
{
	for (unsigned i = 0; i < 8; i++)
		draws[i].used_bytes = i < 4 ? 0 : 64;
	draws[0].used_bytes = first;
}

/* By the members that the function uses: never that all is used. */
static void test_lines_by_members(void)
{
	LodeAddressDraw draws[8];
	LodeObservedInstruction windows = {.line_visits = 16, .line_used_bytes = 16 * 64};
	LodeAddressEvidence evidence = {.draws = draws, .n = 8, .reach = 2048};

	draw(draws, 8, 100);
	set_used(draws, 0);
	g_assert_true(has(&evidence, "lines:partly-used"));
	set_used(draws, 1);
	g_assert_false(has_any(&evidence, "lines:"));
	set_used(draws, -1); /* too few */
	g_assert_false(has_any(&evidence, "lines:"));
	set_used(draws, 0);
	evidence.windows = &windows; /* which know better */
	g_assert_true(has(&evidence, "lines:used"));
}

static void test_conflicts(void)
{
	LodeObservedInstruction windows = {.accesses = 80, .loads.conflicting = 10};
	const LodeAddressEvidence evidence = {.windows = &windows, .reach = 2048};

	g_assert_true(has(&evidence, "conflict:first-level"));
	windows.loads.conflicting = 9;
	g_assert_false(has_any(&evidence, "conflict:"));
	windows = (LodeObservedInstruction){.accesses = 29, .loads.conflicting = 29};
	g_assert_false(has_any(&evidence, "conflict:"));

	/* those of the object */
	LodeAddressPool pool = {.compared = 80, .judged = 80, .conflicting = 10};
	const LodeAddressEvidence of_pool = {.windows = &windows, .pool = &pool, .reach = 2048};
	g_assert_true(has(&of_pool, "conflict:first-level"));
	pool.conflicting = 9;
	g_assert_false(has_any(&of_pool, "conflict:"));
	pool = (LodeAddressPool){.compared = 29, .judged = 29, .conflicting = 29};
	g_assert_false(has_any(&of_pool, "conflict:"));
	pool = (LodeAddressPool){.compared = 80, .judged = 80, .conflicting = 80};
	windows = (LodeObservedInstruction){.accesses = 30}; /* which knows better */
	g_assert_false(has_any(&of_pool, "conflict:"));
}

/* A set keeps the lines that were used last. Misses of the third walk, after two of them. */
static double count_misses(int64_t stride, unsigned rounds, unsigned n_sets, unsigned n_ways)
{
	g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	unsigned n_misses = 0;

	for (unsigned i = 0; i < 3 * rounds; i++) {
		uint64_t address = (UINT64_C(1) << 40) + (uint64_t)((int64_t)(i % rounds) * stride);
		uint64_t line = address / 64;
		unsigned n_since = 0;
		guint k = used->len;
		for (; k > 0 && g_array_index(used, uint64_t, k - 1) != line; k--)
			n_since += g_array_index(used, uint64_t, k - 1) % n_sets == line % n_sets;
		if (k > 0)
			g_array_remove_index(used, k - 1);
		g_array_append_val(used, line);
		n_misses += i >= 2 * rounds && n_since >= n_ways;
	}
	return n_misses;
}

static void test_crowded(void)
{
	unsigned n_crowded = 0;

	for (unsigned k = random_rounds(400, 20000); k > 0; k--) {
		unsigned n_sets = 1u << random_int_range(3, 7);
		unsigned n_ways = (unsigned)random_int_range(2, 13);
		unsigned rounds = (unsigned)random_int_range(1, (gint32)(n_sets * n_ways));
		int64_t stride = random_int_range(0, 2) == 0 ? INT64_C(64) << random_int_range(0, 9)
		                                             : random_int_range(64, 9000);
		stride *= random_int_range(0, 2) == 0 ? -1 : 1;
		bool is_roomy = rounds <= 0.75 * n_sets * n_ways;
		double misses = count_misses(stride, rounds, n_sets, n_ways);
		bool is_crowded = lode_address_facts_are_crowded(stride, rounds, n_sets, n_ways);
		/* a walk down has its borders of lines elsewhere */
		if (stride % 64 == 0)
			g_assert_true(is_crowded == (is_roomy && misses > rounds / 2.0));
		else if (is_crowded)
			g_assert_true(is_roomy && misses > 0);
		n_crowded += is_crowded;
	}
	g_assert_cmpuint(n_crowded, >, 10);
	g_assert_false(lode_address_facts_are_crowded(4096, (double)NAN, 64, 12));
	g_assert_false(lode_address_facts_are_crowded(4096, 200, 0, 12));
	g_assert_false(lode_address_facts_are_crowded(4096, 200, 1u << 20, 12));
	g_assert_true(lode_address_facts_are_crowded(INT64_MIN, 200, 64, 12));
	g_assert_true(lode_address_facts_are_crowded(4096, 13, 64, 12));
	g_assert_false(lode_address_facts_are_crowded(4096, 12, 64, 12));
	g_assert_false(lode_address_facts_are_crowded(4160, 200, 64, 12));
	g_assert_false(lode_address_facts_are_crowded(4096, 577, 64, 12));
}

static void test_pitch(void)
{
	LodeAddressDraw draws[8] = {0};
	const LodeObservedInstruction windows = {.accesses = 20, .strided = 19, .stride = -8192};
	LodeAddressEvidence evidence = {
		.walk = {.is_known = true, .stride = 4096, .comes_back = true, .rounds = 2000},
		.draws = draws,
		.n = 8,
		.n_sets = 64,
		.n_ways = 12,
		.reach = 2048,
	};

	/* executions say too many rounds for what is accessed */
	draws[3].address = 200 * 4096;
	g_assert_false(has_any(&evidence, "conflict:")); /* of windows */
	for (unsigned i = 0; i < 8; i++)
		draws[i].is_of_time = true;
	g_assert_true(has(&evidence, "conflict:pitch"));
	/* the code does not tell that it comes back, but it always accesses these lines */
	evidence.walk.comes_back = false;
	g_assert_true(has(&evidence, "conflict:pitch"));
	draws[3].address += 64;
	g_assert_false(has_any(&evidence, "conflict:"));
	draws[3].address -= 64;
	evidence.walk.rounds = 100; /* or parts of them, one after the other */
	g_assert_false(has_any(&evidence, "conflict:"));
	evidence.walk.rounds = 2000;
	evidence.walk.comes_back = true;
	evidence.n = 7; /* too few */
	g_assert_false(has_any(&evidence, "conflict:"));
	evidence.n = 8;
	draws[3].address = 11 * 4096;
	g_assert_false(has_any(&evidence, "conflict:"));
	draws[3].address = 300 * 4096;
	evidence.walk.rounds = 12;
	g_assert_false(has_any(&evidence, "conflict:"));
	evidence.walk.rounds = 13;
	g_assert_true(has(&evidence, "conflict:pitch"));
	draws[3].address = 600 * 4096; /* it may be as long */
	g_assert_false(has_any(&evidence, "conflict:"));
	/* the code says them */
	evidence.n = 0;
	evidence.walk.is_exact = true;
	g_assert_true(has(&evidence, "conflict:pitch"));
	evidence.walk.stride = 4096 + 64;
	g_assert_false(has_any(&evidence, "conflict:"));
	/* a stride that windows alone know */
	evidence.walk.is_known = false;
	g_assert_false(has_any(&evidence, "conflict:"));
	evidence.windows = &windows;
	g_assert_true(has(&evidence, "conflict:pitch"));
}

/* Each draw on a page of its own. */
static void draw_apart(LodeAddressDraw *draws, uint32_t n, bool is_walk)
{
	for (uint32_t i = 0; i < n; i++)
		draws[i] = (LodeAddressDraw){
			.page = i,
			.address = 4096 * (uint64_t)(is_walk ? i : i * 197 % n),
			.time_ns = i,
			.is_of_time = true,
		};
}

static void test_spread(void)
{
	LodeAddressDraw draws[400], few[10];
	LodeObservedInstruction windows = {.accesses = 100, .page_changes = 25};
	LodeAddressEvidence evidence = {
		.draws = draws, .n = 400, .is_step_known = true, .reach = 2048};

	draw_apart(draws, 400, false);
	g_assert_true(has(&evidence, "spread:tlb"));
	evidence.reach = 20000; /* 400 × 399 / 2 / 4 = 19950 */
	g_assert_false(has(&evidence, "spread:tlb"));
	evidence.reach = 2048;
	draw_apart(draws, 400, true); /* from one end to the other */
	g_assert_false(has(&evidence, "spread:tlb"));
	evidence.windows = &windows; /* which know better */
	g_assert_true(has(&evidence, "spread:tlb"));
	windows.page_changes = 24;
	g_assert_false(has(&evidence, "spread:tlb"));
	for (uint32_t i = 0; i < 400; i++)
		draws[i].page = i % 64;
	windows.page_changes = 100;
	g_assert_false(has(&evidence, "spread:tlb"));

	/* by equal steps: of 4096 bytes, and of 8 */
	draw_apart(draws, 400, false);
	evidence = (LodeAddressEvidence){
		.draws = draws, .n = 400, .is_step_known = true, .is_linear = true, .reach = 2048};
	g_assert_true(has(&evidence, "spread:tlb"));
	draws[7].address += 8;
	g_assert_false(has(&evidence, "spread:tlb"));
	evidence.is_linear = false;
	g_assert_true(has(&evidence, "spread:tlb"));
	evidence.is_step_known = false;
	g_assert_false(has(&evidence, "spread:tlb"));

	/* an instruction of few samples, whose object has many */
	const LodeAddressPool pool = {.n_draws = 400, .moves = {200, 190}};
	draw_apart(few, 10, false);
	evidence = (LodeAddressEvidence){
		.draws = few, .n = 10, .is_step_known = true, .reach = 2048};
	g_assert_false(has(&evidence, "spread:tlb"));
	evidence.pool = &pool;
	g_assert_true(has(&evidence, "spread:tlb"));
	for (uint32_t i = 0; i < 10; i++)
		few[i].page = 1; /* it uses one page of the object */
	g_assert_false(has(&evidence, "spread:tlb"));

	/* windows alone */
	windows = (LodeObservedInstruction){.accesses = 9000, .page_changes = 9000};
	evidence = (LodeAddressEvidence){.windows = &windows, .reach = 4096};
	/* at least 74 % of the pages were really seen; of 4096, 3641 would have been */
	windows.pages = 3641 * 100 / 74 - 10;
	g_assert_false(has(&evidence, "spread:tlb"));
	windows.pages = 3641 * 100 / 74 + 10;
	g_assert_true(has(&evidence, "spread:tlb"));
	windows.pages = 9000;
	g_assert_true(has(&evidence, "spread:tlb"));
	windows.pages = UINT32_MAX;
	g_assert_false(has(&evidence, "spread:tlb"));
}

static void test_first_level(void)
{
	LodeAddressDraw draws[1] = {{.address = 4096}};
	LodeAddressPool pool = {.n_draws = 8, .least = 4096, .most = 4096 + 64 * 12 * 32};
	LodeAddressEvidence evidence = {
		.draws = draws, .n = 1, .pool = &pool, .n_sets = 64, .n_ways = 12, .reach = 2048};

	g_assert_true(has(&evidence, "spread:first-level"));
	pool.most++;
	g_assert_false(has_any(&evidence, "spread:"));
	pool.most = pool.least;
	pool.n_draws = 7; /* too few */
	g_assert_false(has_any(&evidence, "spread:"));
	evidence.pool = NULL;
	g_assert_false(has_any(&evidence, "spread:"));
}

static void test_nothing(void)
{
	const LodeObservedInstruction windows = {.steps = 1000};
	LodeAddressEvidence evidence = {.reach = 2048};
	char texts[LODE_ADDRESS_FACTS_MOST][LODE_ADDRESS_FACT_SIZE];

	g_assert_cmpuint(lode_address_facts_make(&evidence, texts), ==, 0);
	evidence.windows = &windows;
	g_assert_cmpuint(lode_address_facts_make(&evidence, texts), ==, 0);
}

static void test_tlb_sizes(void)
{
	static const struct {
		const char *processor, *family;
		uint32_t second;
	} cases[] = {
		{"AuthenticAMD,23,49,0", "Zen 2", 2048},
		{"AuthenticAMD,25,1,1", "Zen 3", 2048},
		{"AuthenticAMD,25,17,1", "Zen 4", 3072},
		{"AuthenticAMD,26,2,1", "Zen 5", 4096},
		{"GenuineIntel,6,85,7", "Skylake", 1536},
		{"GenuineIntel,6,106,6", "Ice Lake", 2048},
		{"GenuineIntel,6,143,8", "Sapphire Rapids", 2048},
		{"GenuineIntel,6,1,8", "any", 4096},
		{"CentaurHauls,6,143,8", "any", 4096},
		{"AuthenticAMD,25", "any", 4096},
		{"", "any", 4096},
		{NULL, "any", 4096},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const LodeTlbSizes *sizes = lode_tlb_sizes_of(cases[i].processor);
		g_assert_cmpstr(sizes->family, ==, cases[i].family);
		g_assert_cmpuint(sizes->second, ==, cases[i].second);
		g_assert_cmpuint(sizes->first, <, sizes->second);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/address-facts/pairs", test_pairs);
	g_test_add_func("/address-facts/moves", test_moves);
	g_test_add_func("/address-facts/least-pages", test_least_pages);
	g_test_add_func("/address-facts/strides", test_strides);
	g_test_add_func("/address-facts/strides-of-code", test_strides_of_code);
	g_test_add_func("/address-facts/lines", test_lines);
	g_test_add_func("/address-facts/density", test_density);
	g_test_add_func("/address-facts/lines-of-code", test_lines_of_code);
	g_test_add_func("/address-facts/used-bytes", test_used_bytes);
	g_test_add_func("/address-facts/lines-by-members", test_lines_by_members);
	g_test_add_func("/address-facts/conflicts", test_conflicts);
	g_test_add_func("/address-facts/crowded", test_crowded);
	g_test_add_func("/address-facts/first-level", test_first_level);
	g_test_add_func("/address-facts/pitch", test_pitch);
	g_test_add_func("/address-facts/spread", test_spread);
	g_test_add_func("/address-facts/nothing", test_nothing);
	g_test_add_func("/address-facts/tlb-sizes", test_tlb_sizes);
	return g_test_run();
}
