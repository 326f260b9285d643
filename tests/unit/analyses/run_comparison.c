/* SPDX-License-Identifier: MIT */
#include "run_comparison.h"

#include <math.h>
#include <string.h>

bool supports_are_equal(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

char *run_sequence_key(const LodeMiningRun *run, size_t index)
{
	const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, index);
	const uint32_t *items = lode_mining_run_items(run, index);
	GString *text = g_string_new(NULL);

	for (uint32_t i = 0; i < sequence->n_items; i++) {
		const char *name = g_ptr_array_index(
			run->attributes, LODE_ITEM_ATTRIBUTE(items[i]));
		bool is_start = (items[i] & LODE_ITEM_START) != 0;
		g_string_append_printf(text, "%s%s", i == 0 ? "" : is_start ? " → " : " ", name);
	}
	return g_string_free(text, FALSE);
}

GHashTable *run_index_new(const LodeMiningRun *run)
{
	GHashTable *index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < run->sequences->len; i++)
		g_hash_table_insert(index, run_sequence_key(run, i), GUINT_TO_POINTER(i + 1));
	return index;
}

static double event_support(const LodeMiningRun *run, size_t sequence, const char *name)
{
	for (guint e = 0; e < run->events->len; e++)
		if (strcmp(g_ptr_array_index(run->events, e), name) == 0)
			return g_array_index(
				run->event_supports, double, sequence * run->events->len + e);
	return NAN;
}

/* NULL or what differs between sequence i of one run and j of the other. */
static char *sequence_difference(
	const LodeMiningRun *expected, guint i, const LodeMiningRun *actual, guint j)
{
	const LodeSequence *a = &g_array_index(expected->sequences, LodeSequence, i);
	const LodeSequence *b = &g_array_index(actual->sequences, LodeSequence, j);

	if (!supports_are_equal(a->weight, b->weight))
		return g_strdup_printf("weight %.12g, not %.12g", b->weight, a->weight);
	if (!supports_are_equal(a->frequency, b->frequency))
		return g_strdup_printf("frequency %.12g, not %.12g", b->frequency, a->frequency);
	if (!supports_are_equal(a->executions, b->executions))
		return g_strdup_printf("executions %.12g, not %.12g", b->executions, a->executions);
	if (!supports_are_equal(a->count, b->count))
		return g_strdup_printf("count %.12g, not %.12g", b->count, a->count);
	if (a->places != b->places || a->functions != b->functions)
		return g_strdup_printf("%u places, %u functions, not %u, %u", b->places,
			b->functions, a->places, a->functions);
	for (guint e = 0; e < expected->events->len; e++) {
		const char *name = g_ptr_array_index(expected->events, e);
		double want = event_support(expected, i, name);
		double have = event_support(actual, j, name);
		if (!supports_are_equal(want, have))
			return g_strdup_printf("%s %.12g, not %.12g", name, have, want);
	}
	return NULL;
}

char *run_difference_of_part(const LodeMiningRun *whole, const LodeMiningRun *part)
{
	g_autoptr(GHashTable) index = run_index_new(whole);

	for (guint i = 0; i < part->sequences->len; i++) {
		g_autofree char *key = run_sequence_key(part, i);
		guint found = GPOINTER_TO_UINT(g_hash_table_lookup(index, key));
		if (found == 0)
			return g_strdup_printf("%s: should not be reported", key);
		g_autofree char *difference = sequence_difference(whole, found - 1, part, i);
		if (difference != NULL)
			return g_strdup_printf("%s: %s", key, difference);
	}
	return NULL;
}

char *run_difference(const LodeMiningRun *expected, const LodeMiningRun *actual)
{
	g_autoptr(GHashTable) index = run_index_new(actual);

	for (guint i = 0; i < expected->sequences->len; i++) {
		g_autofree char *key = run_sequence_key(expected, i);
		if (g_hash_table_lookup(index, key) == NULL)
			return g_strdup_printf("%s: is missing", key);
	}
	if (g_hash_table_size(index) != actual->sequences->len)
		return g_strdup("a sequence is reported twice");
	return run_difference_of_part(expected, actual);
}

static bool sequences_are_identical(const LodeSequence *a, const LodeSequence *b)
{
	return a->first_item == b->first_item && a->n_items == b->n_items &&
	       a->places == b->places && a->functions == b->functions && a->weight == b->weight &&
	       a->frequency == b->frequency && a->executions == b->executions &&
	       a->count == b->count;
}

static bool arrays_are_identical(const GArray *a, const GArray *b)
{
	return a->len == b->len &&
	       (a->len == 0 || memcmp(a->data, b->data,
				       a->len * g_array_get_element_size((GArray *)a)) == 0);
}

bool runs_are_identical(const LodeMiningRun *a, const LodeMiningRun *b)
{
	if (a->is_complete != b->is_complete || a->sequences->len != b->sequences->len ||
		a->attributes->len != b->attributes->len ||
		!arrays_are_identical(a->items, b->items) ||
		!arrays_are_identical(a->event_supports, b->event_supports))
		return false;
	for (guint i = 0; i < a->attributes->len; i++)
		if (strcmp(g_ptr_array_index(a->attributes, i),
			    g_ptr_array_index(b->attributes, i)) != 0)
			return false;
	for (guint i = 0; i < a->sequences->len; i++)
		if (!sequences_are_identical(&g_array_index(a->sequences, LodeSequence, i),
			    &g_array_index(b->sequences, LodeSequence, i)))
			return false;
	return true;
}

/* Item by item: one that goes into the element before one that starts a new one, then by name. */
static int compare_sequences(const LodeMiningRun *run, guint a, guint b)
{
	uint32_t n_a = g_array_index(run->sequences, LodeSequence, a).n_items;
	uint32_t n_b = g_array_index(run->sequences, LodeSequence, b).n_items;
	const uint32_t *left = lode_mining_run_items(run, a);
	const uint32_t *right = lode_mining_run_items(run, b);

	for (uint32_t i = 0; i < MIN(n_a, n_b); i++) {
		uint32_t start = left[i] & LODE_ITEM_START;
		if (start != (right[i] & LODE_ITEM_START))
			return start != 0 ? 1 : -1;
		int order = strcmp(g_ptr_array_index(run->attributes, LODE_ITEM_ATTRIBUTE(left[i])),
			g_ptr_array_index(run->attributes, LODE_ITEM_ATTRIBUTE(right[i])));
		if (order != 0)
			return order;
	}
	return n_a < n_b ? -1 : n_a > n_b;
}

bool run_is_in_order(const LodeMiningRun *run)
{
	for (guint i = 1; i < run->sequences->len; i++)
		if (compare_sequences(run, i - 1, i) >= 0)
			return false;
	return true;
}
