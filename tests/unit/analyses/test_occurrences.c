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
	return g_test_run();
}
