/* SPDX-License-Identifier: MIT */
/* The occurrences of a sequence, and closed and maximal marks, against brute force. */
#include "analyses/mine/occurrences.h"

#include "analyses/mine/closed.h"
#include "analyses/mine/miner.h"
#include "base/error.h"
#include "naive_marks.h"
#include "naive_occurrences.h"
#include "random_case.h"
#include "run_comparison.h"
#include "seeds.h"

#include <gio/gio.h>

enum { CASES = 300, SEQUENCES_A_CASE = 12 }; /* CASES: usually */

/* NULL or what differs in the lists [first, first + n) of covered vertices. */
static const char *covered_difference(
	const LodeCoveredVertex *a, const LodeCoveredVertex *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (a[i].vertex != b[i].vertex)
			return "another vertex is covered";
		if (a[i].elements != b[i].elements)
			return "a vertex lies in other elements";
		if (!supports_are_equal(a[i].count, b[i].count))
			return "a vertex has another count";
	}
	return NULL;
}

static const char *places_difference(const LodeOccurrences *a, const LodeOccurrences *b)
{
	for (guint i = 0; i < a->places->len; i++) {
		const LodeOccurrencePlace *left = &g_array_index(a->places, LodeOccurrencePlace, i);
		const LodeOccurrencePlace *right = &g_array_index(
			b->places, LodeOccurrencePlace, i);
		if (left->first_vertex != right->first_vertex)
			return "another place";
		if (!supports_are_equal(left->executions, right->executions))
			return "a place has other executions";
		if (left->n_matched != right->n_matched)
			return "a place has other matched vertices";
		const char *difference = covered_difference(
			&g_array_index(a->matched, LodeCoveredVertex, left->first_matched),
			&g_array_index(b->matched, LodeCoveredVertex, right->first_matched),
			left->n_matched);
		if (difference != NULL)
			return difference;
	}
	return NULL;
}

static const char *occurrences_difference(const LodeOccurrences *a, const LodeOccurrences *b)
{
	if (a->covered->len != b->covered->len)
		return "another number of vertices is covered";
	if (a->places->len != b->places->len)
		return "another number of places";
	if (a->functions != b->functions)
		return "another number of functions";
	if (!supports_are_equal(a->weight, b->weight) ||
		!supports_are_equal(a->frequency, b->frequency) ||
		!supports_are_equal(a->executions, b->executions))
		return "other supports";
	const char *difference = covered_difference(
		&g_array_index(a->covered, LodeCoveredVertex, 0),
		&g_array_index(b->covered, LodeCoveredVertex, 0), a->covered->len);
	return difference != NULL ? difference : places_difference(a, b);
}

static bool check_sequence(const RandomCase *random, const LodeMiningRun *run, guint index)
{
	const uint32_t *items = lode_mining_run_items(run, index);
	uint32_t n_items = g_array_index(run->sequences, LodeSequence, index).n_items;
	LodeOccurrences *expected = naive_occurrences_find(
		random->graph, &random->parameters, items, n_items);
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeOccurrences) actual = lode_occurrences_find(
		random->graph, items, n_items, &random->parameters, &error);

	g_assert_no_error(error);
	const char *difference = occurrences_difference(expected, actual);
	if (difference != NULL) {
		g_autofree char *key = run_sequence_key(run, index);
		random_case_fail(random, "%s: %s", key, difference);
	}
	naive_occurrences_free(expected);
	return difference == NULL;
}

static LodeMiningRun *mine(const RandomCase *random)
{
	g_autoptr(GError) error = NULL;
	LodeMiningRun *run = lode_miner_run(
		random->graph, &random->parameters, "real", NULL, &error);

	g_assert_no_error(error);
	return run;
}

static void test_occurrences(void)
{
	const uint32_t n_cases = random_rounds(CASES, CASES);
	uint64_t n_checked = 0;

	for (uint32_t seed = 7000; seed < 7000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		g_autoptr(LodeMiningRun) run = mine(random);
		guint step = 1 + run->sequences->len / SEQUENCES_A_CASE;
		for (guint i = seed % step; i < run->sequences->len; i += step, n_checked++)
			if (!check_sequence(random, run, i))
				return;
	}
	g_assert_cmpuint(n_checked, >, n_cases);
}

/* A sequence that occurs nowhere has no places. */
static void test_no_occurrence(void)
{
	g_autoptr(RandomCase) random = random_case_new_paths(3);
	g_autoptr(GError) error = NULL;
	uint32_t items[20];

	for (size_t i = 0; i < G_N_ELEMENTS(items); i++)
		items[i] = LODE_ITEM_START;
	random->parameters.gap = 0;
	g_autoptr(LodeOccurrences) found = lode_occurrences_find(
		random->graph, items, G_N_ELEMENTS(items), &random->parameters, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(found->covered->len, ==, 0);
	g_assert_cmpuint(found->places->len, ==, 0);
	g_assert_cmpfloat(found->weight, ==, 0);
}

static void test_closed_and_maximal(void)
{
	const uint32_t n_cases = random_rounds(CASES, CASES);
	guint n_dropped = 0, n_kept = 0;

	for (uint32_t seed = 8000; seed < 8000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		g_autoptr(LodeMiningRun) run = mine(random);
		guint n = run->sequences->len;
		g_autofree bool *expected = g_new0(bool, 2 * n + 1);
		g_autofree bool *actual = g_new0(bool, 2 * n + 1);
		if (n > 400)
			continue;
		naive_closed_mark(run, expected);
		lode_closed_mark(run, actual, NULL, NULL);
		naive_maximal_mark(run, expected + n);
		lode_maximal_mark(run, actual + n, NULL, NULL);
		for (guint i = 0; i < 2 * n; i++) {
			if (expected[i] != actual[i]) {
				g_autofree char *key = run_sequence_key(run, i % n);
				random_case_fail(random, "%s: %s %d", key,
					i < n ? "closed" : "maximal", actual[i]);
				return;
			}
			n_kept += expected[i];
			n_dropped += !expected[i];
		}
	}
	g_assert_cmpuint(n_kept, >, n_cases / 3);
	g_assert_cmpuint(n_dropped, >, n_cases / 3);
}

/* Supports that differ from the next by less than counts as equal, and from others by more. */
static void test_closed_drift(void)
{
	const uint32_t n_cases = random_rounds(CASES, CASES);
	guint n_dropped = 0;

	for (uint32_t seed = 8000; seed < 8000 + n_cases; seed++) {
		g_autoptr(RandomCase) random = random_case_new(soak_seed(seed));
		g_autoptr(LodeMiningRun) run = mine(random);
		guint n = run->sequences->len;
		g_autofree bool *expected = g_new0(bool, n + 1);
		g_autofree bool *actual = g_new0(bool, n + 1);
		if (n > 400)
			continue;
		for (guint i = 0; i < n; i++) {
			LodeSequence *one = &g_array_index(run->sequences, LodeSequence, i);
			one->weight = 0.5 + 0.6e-9 * (i * 7 % 5);
			one->frequency = 0.25 + 0.6e-9 * (i * 11 % 3);
		}
		naive_closed_mark(run, expected);
		lode_closed_mark(run, actual, NULL, NULL);
		for (guint i = 0; i < n; i++) {
			g_assert_cmpint(actual[i], ==, expected[i]);
			n_dropped += !expected[i];
		}
	}
	g_assert_cmpuint(n_dropped, >, n_cases / 3);
}

/* A run of sequences, each a text: an attribute a letter, elements apart by commas. */
static LodeMiningRun *run_of_texts(GPtrArray *texts)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	LodeMiningRun *run = lode_mining_run_new("texts", &parameters);
	for (char letter = 'a'; letter <= 'z'; letter++)
		g_ptr_array_add(run->attributes, g_strdup_printf("%c", letter));
	for (guint i = 0; i < texts->len; i++) {
		LodeSequence sequence = {.first_item = run->items->len};
		uint32_t start = LODE_ITEM_START;
		for (const char *at = g_ptr_array_index(texts, i); *at != '\0'; at++) {
			uint32_t item = (uint32_t)(*at - 'a') | start;
			start = *at == ',' ? LODE_ITEM_START : 0;
			if (*at != ',')
				g_array_append_val(run->items, item);
		}
		sequence.n_items = run->items->len - (guint)sequence.first_item;
		g_array_append_val(run->sequences, sequence);
	}
	return run;
}

/* Canonical order: a letter in the same element is before a comma. */
static int compare_texts(const void *a, const void *b)
{
	const char *left = *(const char *const *)a, *right = *(const char *const *)b;

	while (*left != '\0' && *left == *right) {
		left++;
		right++;
	}
	/* '\0' is least, ',' is after all letters. */
	int a_rank = *left == ',' ? 'z' + 1 : *left, b_rank = *right == ',' ? 'z' + 1 : *right;
	return a_rank - b_rank;
}

/* A few letters, ascending inside an element. */
static char *draw_text(GRand *random, uint32_t n_letters)
{
	GString *text = g_string_new(NULL);
	int n = g_rand_int_range(random, 1, 7);

	for (int i = 0; i < n; i++) {
		int letter = g_rand_int_range(random, 0, (gint32)n_letters);
		if (i > 0 && (letter <= text->str[text->len - 1] - 'a' || g_rand_boolean(random)))
			g_string_append_c(text, ',');
		g_string_append_c(text, (char)('a' + letter));
	}
	return g_string_free(text, FALSE);
}

/* Also where prefixes are missing, as where a run was cut at its limit. */
static void test_maximal_of_texts(void)
{
	const uint32_t n_cases = random_rounds(200, 2000);
	guint n_dropped = 0, n_kept = 0;

	for (uint32_t seed = 9000; seed < 9000 + n_cases; seed++) {
		GRand *random = g_rand_new_with_seed(soak_seed(seed));
		g_autoptr(GHashTable) drawn = g_hash_table_new(g_str_hash, g_str_equal);
		g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
		uint32_t n_letters = (uint32_t)g_rand_int_range(random, 1, 6);
		for (int i = g_rand_int_range(random, 1, 60); i > 0; i--) {
			g_autofree char *text = draw_text(random, n_letters);
			if (g_hash_table_contains(drawn, text))
				continue;
			g_hash_table_add(drawn, text);
			g_ptr_array_add(texts, g_steal_pointer(&text));
		}
		g_ptr_array_sort(texts, compare_texts);
		g_autoptr(LodeMiningRun) run = run_of_texts(texts);
		g_autofree bool *expected = g_new0(bool, texts->len);
		g_autofree bool *actual = g_new0(bool, texts->len);
		naive_maximal_mark(run, expected);
		g_assert_true(lode_maximal_mark(run, actual, NULL, NULL));
		for (guint i = 0; i < texts->len; i++) {
			if (expected[i] != actual[i])
				g_test_message("seed %u: %s", seed,
					(const char *)g_ptr_array_index(texts, i));
			g_assert_cmpint(actual[i], ==, expected[i]);
			n_kept += expected[i];
			n_dropped += !expected[i];
		}
		g_rand_free(random);
	}
	g_assert_cmpuint(n_kept, >, n_cases);
	g_assert_cmpuint(n_dropped, >, n_cases);
}

/* Adds all texts of `n_letters` elements a to d with e at two or one of the places between. */
static void add_words(GPtrArray *texts, uint32_t n_letters, bool has_two)
{
	for (uint32_t word = 0; word < UINT32_C(1) << 2 * n_letters; word++)
		for (uint32_t first = 0; first <= n_letters; first++)
			for (uint32_t second = has_two ? first : n_letters; second <= n_letters;
				second++) {
				GString *text = g_string_new(NULL);
				for (uint32_t i = 0; i <= n_letters; i++) {
					g_string_append(text, i == first ? "e," : "");
					g_string_append(text, has_two && i == second ? "e," : "");
					if (i < n_letters)
						g_string_append_printf(
							text, "%c,", 'a' + (word >> 2 * i & 3));
				}
				g_ptr_array_add(texts, g_string_free(text, FALSE));
			}
}

/* Sequences that have the same attributes, and none of which is part of another: to compare all
 * pairs would take minutes. */
static void test_maximal_of_many(void)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);

	add_words(texts, 7, false);
	add_words(texts, 5, true);
	g_ptr_array_sort(texts, compare_texts);
	g_autoptr(LodeMiningRun) run = run_of_texts(texts);
	g_autofree bool *marks = g_new0(bool, texts->len);
	g_assert_true(lode_maximal_mark(run, marks, NULL, NULL));
	for (guint i = 0; i < texts->len; i++)
		g_assert_true(marks[i]);
}

/* Nearly all of its parts begin as one sequence does, and are none: there are too many to look at
 * all of them. */
static void test_maximal_of_one_letter(void)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	bool marks[4];

	g_ptr_array_add(texts, g_strdup("a,b"));
	g_ptr_array_add(texts, g_strdup("a,a,b"));
	g_ptr_array_add(texts, g_strdup("a,a,a,b,b"));
	GString *longest = g_string_new(NULL);
	for (int i = 0; i < 60; i++)
		g_string_append(longest, "a,");
	g_string_append(longest, "b");
	g_ptr_array_add(texts, g_string_free(longest, FALSE));
	g_ptr_array_sort(texts, compare_texts);
	g_autoptr(LodeMiningRun) run = run_of_texts(texts);
	g_assert_true(lode_maximal_mark(run, marks, NULL, NULL));
	for (guint i = 0; i < texts->len; i++) {
		const char *text = g_ptr_array_index(texts, i);
		g_assert_cmpint(marks[i], ==, strlen(text) > 5);
	}
}

/* It can be stopped: a run that was cut at its limit may take minutes. */
static void test_marks_stopped(void)
{
	g_autoptr(RandomCase) random = random_case_new(8000);
	g_autoptr(LodeMiningRun) run = mine(random);
	g_autofree bool *marks = g_new0(bool, run->sequences->len + 1);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	g_autoptr(GError) error = NULL;
	g_autoptr(GError) other = NULL;

	/* Two that have equal supports are compared. */
	g_assert_cmpuint(run->sequences->len, >, 1);
	for (guint i = 0; i < run->sequences->len; i++) {
		LodeSequence *one = &g_array_index(run->sequences, LodeSequence, i);
		one->weight = one->frequency = 0.5;
	}
	g_cancellable_cancel(cancellable);
	g_assert_false(lode_closed_mark(run, marks, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
	g_assert_false(lode_maximal_mark(run, marks, &progress, &other));
	g_assert_error(other, LODE_ERROR, LODE_ERROR_CANCELLED);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/occurrences/random-graphs", test_occurrences);
	g_test_add_func("/occurrences/none", test_no_occurrence);
	g_test_add_func("/closed/random-graphs", test_closed_and_maximal);
	g_test_add_func("/closed/drift", test_closed_drift);
	g_test_add_func("/closed/stopped", test_marks_stopped);
	g_test_add_func("/maximal/texts", test_maximal_of_texts);
	g_test_add_func("/maximal/many", test_maximal_of_many);
	g_test_add_func("/maximal/one-letter", test_maximal_of_one_letter);
	return g_test_run();
}
