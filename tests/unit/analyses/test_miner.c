/* SPDX-License-Identifier: MIT */
/*
 * The miner against brute force on random graphs, against a textbook's sequential-pattern miner on
 * paths, and against itself with other numbers of threads.
 */
#include "analyses/mine/miner.h"

#include "analyses/mine/searcher.h"
#include "model/profile.h"
#include "naive_marks.h"
#include "naive_miner.h"
#include "random_case.h"
#include "run_comparison.h"
#include "seeds.h"
#include "store/profile_store.h"
#include "textbook_miner.h"

#include <glib/gstdio.h>
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

static LodeMiningRun *mine(const RandomCase *random, unsigned threads)
{
	g_autoptr(GError) error = NULL;
	LodeMiningParameters parameters = random->parameters;

	parameters.threads = threads;
	LodeMiningRun *run = lode_miner_run(random->graph, &parameters, "real", NULL, &error);
	if (run == NULL)
		random_case_fail(random, "the miner failed: %s", error->message);
	return run;
}

/* Puts τm exactly on a support that occurs, which must then pass. */
static void set_threshold_on_tie(RandomCase *random)
{
	g_autoptr(LodeMiningRun) run = naive_miner_run(random->graph, &random->parameters);
	guint n = run->sequences->len;

	if (n > 0)
		random->parameters.min_support = lode_sequence_maximal(
			&g_array_index(run->sequences, LodeSequence, random->seed % n));
}

static bool check_threads(const RandomCase *random, const LodeMiningRun *one)
{
	static const unsigned threads[] = {2, 8};

	for (size_t i = 0; i < G_N_ELEMENTS(threads); i++) {
		g_autoptr(LodeMiningRun) run = mine(random, threads[i]);
		if (run == NULL)
			return false;
		if (!runs_are_identical(one, run)) {
			random_case_fail(random, "%u threads give another run", threads[i]);
			return false;
		}
	}
	return true;
}

static bool check_against_naive(const RandomCase *random, uint64_t *total)
{
	g_autoptr(LodeMiningRun) expected = naive_miner_run(random->graph, &random->parameters);
	g_autoptr(LodeMiningRun) actual = mine(random, 1);

	if (actual == NULL)
		return false;
	g_autofree char *difference = run_difference(expected, actual);
	*total += expected->sequences->len;
	if (difference != NULL)
		random_case_fail(random, "%s", difference);
	else if (!actual->is_complete)
		random_case_fail(random, "marked incomplete");
	else if (!run_is_in_order(actual))
		random_case_fail(random, "not in canonical order");
	else
		return check_threads(random, actual);
	return false;
}

static void test_random_graphs(void)
{
	const uint32_t n_cases = random_rounds(200, 600);
	uint64_t total = 0;

	for (uint32_t seed = 1; seed <= n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		if (seed % 4 == 0)
			set_threshold_on_tie(random);
		if (!check_against_naive(random, &total))
			return;
	}
	g_test_message("%" G_GUINT64_FORMAT " sequences compared", total);
	g_assert_cmpuint(total, >, n_cases);
}

/* Supports are sums over vertices: in whatever order these are, to the last bit. Those of events
 * are left out, as the rate that they are taken apart from may be another. */
static void test_order_of_vertices(void)
{
	const uint32_t n_cases = random_rounds(100, 400);
	uint64_t total = 0;

	for (uint32_t seed = 7000; seed < 7000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		g_autoptr(RandomCase) reversed = random_case_reverse(random);
		g_autoptr(LodeMiningRun) one = mine(random, 1);
		g_autoptr(LodeMiningRun) other = mine(reversed, 1);
		if (one == NULL || other == NULL)
			return;
		g_array_set_size(one->event_supports, 0);
		g_array_set_size(other->event_supports, 0);
		if (!runs_are_identical(one, other)) {
			random_case_fail(random, "another order of vertices gives another run");
			return;
		}
		total += one->sequences->len;
	}
	g_assert_cmpuint(total, >, n_cases);
}

/* NULL or what is not a share. */
static const char *find_no_share(const LodeMiningRun *run)
{
	for (guint i = 0; i < run->sequences->len; i++) {
		const LodeSequence *one = &g_array_index(run->sequences, LodeSequence, i);
		if (!(one->weight >= 0 && one->weight <= 1))
			return "weight";
		if (!(one->frequency >= 0 && one->frequency <= 1))
			return "frequency";
		if (!(one->executions >= 0))
			return "executions";
	}
	for (guint i = 0; i < run->event_supports->len; i++) {
		double support = g_array_index(run->event_supports, double, i);
		if (!(support >= 0 && support <= 1))
			return "an event";
	}
	return NULL;
}

/* Supports are between 0 and 1 also where the sums that they are made of are rounded, and the store
 * takes them. */
static void test_rounded_sums(void)
{
	const uint32_t n_cases = random_rounds(400, 4000);
	g_autofree char *folder = g_dir_make_tmp("lode-miner-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(folder, "x.lode", NULL);
	g_autoptr(LodeProfile) profile = lode_profile_new();
	g_autoptr(GError) error = NULL;
	uint64_t total = 0;

	g_assert_true(lode_profile_store_write(path, profile, NULL, NULL));
	for (uint32_t seed = 8000; seed < 8000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new_rounded(soak_seed(seed));
		g_autoptr(LodeMiningRun) run = mine(random, 1);
		const char *wrong = run != NULL ? find_no_share(run) : NULL;
		if (wrong != NULL)
			random_case_fail(random, "%s is not between 0 and 1", wrong);
		if (run == NULL || wrong != NULL)
			break;
		if (seed % 20 == 0 &&
			!lode_profile_store_add_run(path, profile, run, NULL, &error)) {
			random_case_fail(random, "the run is not stored: %s", error->message);
			break;
		}
		total += run->sequences->len;
	}
	g_unlink(path);
	g_rmdir(folder);
	g_assert_cmpuint(total, >, n_cases);
}

/* Whether the miner finds in the graph, many times over, what it finds in the graph. */
static bool check_repeated(const RandomCase *random, uint64_t *total)
{
	uint32_t copies = 16000 / MAX(random->graph->n_vertices, 1) + 1;
	g_autoptr(LodeMiningRun) expected = naive_miner_run(random->graph, &random->parameters);

	/* That many would take long. */
	if (expected->sequences->len > 100)
		return true;
	g_autoptr(RandomCase) repeated = random_case_repeat(random, copies);
	g_autoptr(LodeMiningRun) actual = mine(repeated, 1);
	if (actual == NULL)
		return false;
	for (guint i = 0; i < expected->sequences->len; i++) {
		LodeSequence *one = &g_array_index(expected->sequences, LodeSequence, i);
		one->places *= copies;
		one->functions *= copies;
		one->executions *= copies;
	}
	g_autofree char *difference = run_difference(expected, actual);
	*total += expected->sequences->len;
	if (difference != NULL)
		random_case_fail(random, "%u copies: %s", copies, difference);
	return difference == NULL && check_threads(repeated, actual);
}

/* Of large levels the miner orders, bounds and keeps candidates in other ways than of small ones,
 * and threads prepare large graphs in pieces. */
static void test_large_graphs(void)
{
	const uint32_t n_cases = random_rounds(40, 200);
	uint64_t total = 0;

	for (uint32_t seed = 1; seed <= n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		random->parameters.iterations = MIN(random->parameters.iterations, 3);
		if (seed % 2 == 1) {
			random->parameters.window = seed % 4;
			random->parameters.iterations = 2;
		}
		if (!check_repeated(random, &total))
			return;
	}
	g_test_message("%" G_GUINT64_FORMAT " sequences compared", total);
	g_assert_cmpuint(total, >, n_cases);
}

/* A run in the shape of the textbook's patterns. */
static LodeMiningRun *run_of_patterns(const RandomCase *random, const GArray *patterns)
{
	LodeMiningRun *run = lode_mining_run_new("textbook", &random->parameters);

	for (uint32_t a = 0; a < random->graph->n_attributes; a++)
		g_ptr_array_add(run->attributes, g_strdup(random->graph->attribute_names[a]));
	for (guint i = 0; i < patterns->len; i++) {
		const TextbookPattern *pattern = &g_array_index(patterns, TextbookPattern, i);
		LodeSequence sequence = {.first_item = run->items->len,
			.n_items = pattern->n_items,
			.functions = pattern->support};
		g_array_append_vals(run->items, pattern->items, pattern->n_items);
		g_array_append_val(run->sequences, sequence);
	}
	return run;
}

/* NULL or where sequences or numbers of functions differ. */
static char *textbook_difference(const LodeMiningRun *textbook, const LodeMiningRun *actual)
{
	g_autoptr(GHashTable) index = run_index_new(actual);

	if (textbook->sequences->len != actual->sequences->len)
		return g_strdup_printf(
			"%u sequences, not %u", actual->sequences->len, textbook->sequences->len);
	for (guint i = 0; i < textbook->sequences->len; i++) {
		g_autofree char *key = run_sequence_key(textbook, i);
		guint found = GPOINTER_TO_UINT(g_hash_table_lookup(index, key));
		if (found == 0)
			return g_strdup_printf("%s: is missing", key);
		uint32_t functions =
			g_array_index(actual->sequences, LodeSequence, found - 1).functions;
		uint32_t support = g_array_index(textbook->sequences, LodeSequence, i).functions;
		if (functions != support)
			return g_strdup_printf("%s: %u functions, not %u", key, functions, support);
	}
	return NULL;
}

static void test_textbook(void)
{
	const uint32_t n_cases = random_rounds(150, 150);

	for (uint32_t seed = 1; seed <= n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new_paths(soak_seed(seed));
		const LodeMiningParameters *parameters = &random->parameters;
		g_autoptr(GArray) patterns = textbook_miner_run(random->graph, parameters->gap + 1,
			parameters->min_functions, parameters->iterations);
		g_autoptr(LodeMiningRun) expected = run_of_patterns(random, patterns);
		g_autoptr(LodeMiningRun) actual = mine(random, 2);
		if (actual == NULL)
			return;
		g_autofree char *difference = textbook_difference(expected, actual);
		if (difference != NULL) {
			random_case_fail(random, "%s", difference);
			return;
		}
	}
}

static int compare_falling(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left < right) - (left > right);
}

/* The τm at which sequence i would just be reported: the least Sm of its prefixes and items. */
static double reporting_threshold(const LodeMiningRun *run, GHashTable *index, guint i)
{
	LodeMiningRun part = *run;
	LodeSequence sequence = g_array_index(run->sequences, LodeSequence, i);
	double least = lode_sequence_maximal(&sequence);

	part.items = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	part.sequences = g_array_new(FALSE, FALSE, sizeof(LodeSequence));
	for (uint32_t n = 1; n <= 2 * sequence.n_items; n++) {
		bool is_prefix = n <= sequence.n_items;
		uint32_t first = is_prefix ? 0 : n - sequence.n_items - 1;
		LodeSequence shorter = {.n_items = is_prefix ? n : 1};
		g_array_set_size(part.items, 0);
		g_array_append_vals(
			part.items, lode_mining_run_items(run, i) + first, shorter.n_items);
		g_array_index(part.items, uint32_t, 0) |= LODE_ITEM_START;
		g_array_append_val(g_array_set_size(part.sequences, 0), shorter);
		g_autofree char *key = run_sequence_key(&part, 0);
		guint found = GPOINTER_TO_UINT(g_hash_table_lookup(index, key));
		g_assert_cmpuint(found, >, 0);
		least = fmin(least, lode_sequence_maximal(&g_array_index(
					    run->sequences, LodeSequence, found - 1)));
	}
	g_array_unref(part.items);
	g_array_unref(part.sequences);
	return least;
}

static double top_threshold(const LodeMiningRun *all, uint32_t top)
{
	g_autoptr(GHashTable) index = run_index_new(all);
	g_autoptr(GArray) thresholds = g_array_new(FALSE, FALSE, sizeof(double));

	for (guint i = 0; i < all->sequences->len; i++) {
		double threshold = reporting_threshold(all, index, i);
		g_array_append_val(thresholds, threshold);
	}
	if (thresholds->len < top)
		return 0;
	g_array_sort(thresholds, compare_falling);
	return g_array_index(thresholds, double, top - 1);
}

/* Small enough that all sequences can be listed. */
static RandomCase *new_case_for_top(uint32_t seed)
{
	RandomCase *random = random_case_new(soak_seed(seed));

	random->parameters.min_support = 0;
	random->parameters.min_differential = 2;
	random->parameters.iterations = MIN(random->parameters.iterations, 3);
	return random;
}

/* Mines a case with further items; checks what it has of the naive miner's sequences of the case,
 * and that it has `n_more` beside them. Adds the number of those to `total`. NULL where there is
 * nothing to mine. */
static LodeMiningRun *mine_widened(
	const RandomCase *random, const RandomCase *widened, guint n_more, uint64_t *total)
{
	g_autoptr(LodeMiningRun) expected = naive_miner_run(random->graph, &random->parameters);
	g_autoptr(LodeMiningRun) actual = mine(widened, 1);

	if (actual == NULL || random->graph->total_count == 0)
		return NULL;
	g_autofree char *difference = run_difference_of_part(actual, expected);
	if (difference != NULL)
		random_case_fail(random, "%s", difference);
	g_assert_cmpuint(actual->sequences->len, ==, expected->sequences->len + n_more);
	*total += expected->sequences->len;
	return g_steal_pointer(&actual);
}

/* With more items than a word has bits, which are more than the naive miner can do. */
static void test_many_items(void)
{
	enum { N_FURTHER = 65 };
	const uint32_t n_cases = random_rounds(60, 200);
	uint64_t total = 0;

	for (uint32_t seed = 4000; seed < 4000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = new_case_for_top(seed);
		random->parameters.min_functions = 1;
		g_autoptr(RandomCase) widened = random_case_widen(random, N_FURTHER);
		lode_mining_run_free(mine_widened(random, widened, N_FURTHER, &total));
	}
	g_assert_cmpuint(total, >, n_cases);
}

/* With more sets of attributes than one thread prepares at a time, whether the further ones pass or
 * not. */
static void test_many_classes(void)
{
	enum { N_FURTHER = 9000, N_CASES = 8 };
	uint64_t total = 0;

	for (uint32_t seed = 6000; seed < 6000 + N_CASES; seed++) {
		g_autoptr(RandomCase) random = new_case_for_top(seed);
		guint n_passing = seed % 2 == 0 ? N_FURTHER : 0;
		random->parameters.min_functions = 1;
		random->parameters.iterations = n_passing > 0 ? 1 : 2;
		random->parameters.min_support = n_passing > 0 ? 0 : 0.01;
		g_autoptr(RandomCase) widened = random_case_widen(random, N_FURTHER);
		g_autoptr(LodeMiningRun) actual = mine_widened(random, widened, n_passing, &total);
		if (actual != NULL && !check_threads(widened, actual))
			return;
	}
	g_assert_cmpuint(total, >, N_CASES);
}

static void test_top(void)
{
	const uint32_t n_cases = random_rounds(60, 60);

	for (uint32_t seed = 1000; seed < 1000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = new_case_for_top(seed);
		g_autoptr(LodeMiningRun) all = naive_miner_run(random->graph, &random->parameters);
		uint32_t top = 1 + seed % 40;
		random->parameters.min_support = top_threshold(all, top);
		g_autoptr(LodeMiningRun)
			expected = naive_miner_run(random->graph, &random->parameters);
		random->parameters.top = top;
		random->parameters.min_support = 0;
		g_autoptr(LodeMiningRun) actual = mine(random, 1 + seed % 2);
		if (actual == NULL)
			return;
		g_autofree char *difference = run_difference(expected, actual);
		if (difference != NULL) {
			random_case_fail(random, "top %u: %s", top, difference);
			return;
		}
	}
}

static bool check_limit(RandomCase *random, const LodeMiningRun *all, uint64_t limit)
{
	random->parameters.max_sequences = limit;
	g_autoptr(LodeMiningRun) run = mine(random, 1);
	if (run == NULL)
		return false;
	g_autofree char *difference = run_difference_of_part(all, run);
	bool fits = all->sequences->len <= limit;

	if (difference != NULL)
		random_case_fail(random, "at most %u: %s", (unsigned)limit, difference);
	else if (run->is_complete != fits)
		random_case_fail(random, "at most %u of %u: marked %scomplete", (unsigned)limit,
			all->sequences->len, run->is_complete ? "" : "in");
	else if (run->sequences->len != MIN(limit, all->sequences->len))
		random_case_fail(random, "at most %u of %u: gives %u", (unsigned)limit,
			all->sequences->len, run->sequences->len);
	else
		return check_threads(random, run);
	return false;
}

static void test_max_sequences(void)
{
	const uint32_t n_cases = random_rounds(60, 60);

	for (uint32_t seed = 2000; seed < 2000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		g_autoptr(LodeMiningRun) all = naive_miner_run(random->graph, &random->parameters);
		uint32_t n = all->sequences->len;
		if (n < 2)
			continue;
		if (!check_limit(random, all, n) || !check_limit(random, all, n - 1) ||
			!check_limit(random, all, 1 + seed % n))
			return;
	}
}

/* A copy of the run with the marked sequences only. */
static LodeMiningRun *keep_marked(const LodeMiningRun *run, const bool *is_kept)
{
	LodeMiningRun *kept = lode_mining_run_new(run->name, &run->parameters);

	for (guint i = 0; i < run->attributes->len; i++)
		g_ptr_array_add(kept->attributes, g_strdup(g_ptr_array_index(run->attributes, i)));
	for (guint i = 0; i < run->sequences->len; i++) {
		LodeSequence sequence = g_array_index(run->sequences, LodeSequence, i);
		if (!is_kept[i])
			continue;
		sequence.first_item = kept->items->len;
		g_array_append_vals(kept->items, lode_mining_run_items(run, i), sequence.n_items);
		g_array_append_val(kept->sequences, sequence);
	}
	return kept;
}

static void test_only_closed_or_maximal(void)
{
	const uint32_t n_cases = random_rounds(60, 60);

	for (uint32_t seed = 3000; seed < 3000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		g_autoptr(LodeMiningRun) all = naive_miner_run(random->graph, &random->parameters);
		g_autofree bool *is_kept = g_new0(bool, all->sequences->len + 1);
		random->parameters.only_closed = seed % 2 == 0;
		random->parameters.only_maximal = seed % 2 == 1;
		if (random->parameters.only_closed)
			naive_closed_mark(all, is_kept);
		else
			naive_maximal_mark(all, is_kept);
		g_autoptr(LodeMiningRun) expected = keep_marked(all, is_kept);
		g_autoptr(LodeMiningRun) actual = mine(random, 1);
		if (actual == NULL)
			return;
		g_autofree char *difference = run_difference(expected, actual);
		if (difference != NULL) {
			random_case_fail(random, "only %s: %s",
				seed % 2 == 0 ? "closed" : "maximal", difference);
			return;
		}
	}
}

/* What may be allocated is less than what the machine has where RLIMIT_AS is set. */
static void test_default_memory(void)
{
	if (!g_test_subprocess()) {
		g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
		g_test_trap_assert_passed();
		return;
	}
	enum { LEFT = 64 << 20 };
	LodeMiningParameters parameters;
	g_autofree char *status = NULL;
	struct rlimit limit;
	LodeSearch search;

	lode_mining_parameters_init(&parameters);
	g_assert_cmpint(getrlimit(RLIMIT_AS, &limit), ==, 0);
	g_assert_true(g_file_get_contents("/proc/self/statm", &status, NULL, NULL));
	limit.rlim_cur = g_ascii_strtoull(status, NULL, 10) * (rlim_t)getpagesize() + LEFT;
	g_assert_cmpint(setrlimit(RLIMIT_AS, &limit), ==, 0);
	lode_search_init(&search, NULL, &parameters, NULL);
	g_assert_cmpuint(search.memory_limit, <=, LEFT / 2);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/miner/random-graphs", test_random_graphs);
	g_test_add_func("/miner/order-of-vertices", test_order_of_vertices);
	g_test_add_func("/miner/rounded-sums", test_rounded_sums);
	g_test_add_func("/miner/large-graphs", test_large_graphs);
	g_test_add_func("/miner/many-items", test_many_items);
	g_test_add_func("/miner/many-classes", test_many_classes);
	g_test_add_func("/miner/textbook", test_textbook);
	g_test_add_func("/miner/default-memory", test_default_memory);
	g_test_add_func("/miner/top", test_top);
	g_test_add_func("/miner/max-sequences", test_max_sequences);
	g_test_add_func("/miner/only-closed-or-maximal", test_only_closed_or_maximal);
	return g_test_run();
}
