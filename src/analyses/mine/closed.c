/* SPDX-License-Identifier: MIT */
/*
 * To compare all pairs of a million sequences would take hours. For --closed only those of the same
 * supports need to be compared: so the sequences are sorted by these first. For --maximal, what is
 * contained in a sequence is contained in a maximal one: so each is compared, from the largest on,
 * with the maximal ones that have its rarest attribute.
 */
#include "analyses/mine/closed.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

/* Both elements are sorted. */
static bool is_subset(
	const uint32_t *small, uint32_t n_small, const uint32_t *large, uint32_t n_large)
{
	uint32_t j = 0;

	for (uint32_t i = 0; i < n_small; i++, j++) {
		uint32_t wanted = LODE_ITEM_ATTRIBUTE(small[i]);
		while (j < n_large && LODE_ITEM_ATTRIBUTE(large[j]) < wanted)
			j++;
		if (j == n_large || LODE_ITEM_ATTRIBUTE(large[j]) != wanted)
			return false;
	}
	return true;
}

bool lode_sequence_is_contained(
	const uint32_t *items, uint32_t n, const uint32_t *in_items, uint32_t in_n)
{
	uint32_t at = 0;

	/* The earliest element that holds it leaves most room for the rest. */
	for (uint32_t i = 0; i < n;) {
		uint32_t end = lode_sequence_element_end(items, n, i);
		bool is_found = false;
		while (at < in_n && !is_found) {
			uint32_t in_end = lode_sequence_element_end(in_items, in_n, at);
			is_found = is_subset(items + i, end - i, in_items + at, in_end - at);
			at = in_end;
		}
		if (!is_found)
			return false;
		i = end;
	}
	return true;
}

/* A bit for each attribute: where one is missing in another's signature, that one cannot contain
 * it, which saves comparing their items. */
uint64_t lode_sequence_signature(const uint32_t *items, uint32_t n)
{
	uint64_t signature = 0;

	for (uint32_t i = 0; i < n; i++)
		signature |= UINT64_C(1) << lode_hash_slot(LODE_ITEM_ATTRIBUTE(items[i]), 6);
	return signature;
}

typedef struct {
	double weight, frequency;
	uint64_t signature;
	uint32_t index, n_items;
	const uint32_t *items;
} Ranked;

static Ranked rank(const LodeMiningRun *run, uint32_t index)
{
	const LodeSequence *one = &g_array_index(run->sequences, LodeSequence, index);
	const uint32_t *items = lode_mining_run_items(run, index);

	return (Ranked){one->weight, one->frequency, lode_sequence_signature(items, one->n_items),
		index, one->n_items, items};
}

static int compare_by_weight(const void *a, const void *b)
{
	const Ranked *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight < right->weight ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

static bool is_proper_super(const Ranked *large, const Ranked *small)
{
	return large->n_items > small->n_items && (small->signature & ~large->signature) == 0 &&
	       lode_sequence_is_contained(
		       small->items, small->n_items, large->items, large->n_items);
}

static const double same = 1e-9;

static bool has_same_supports(const Ranked *a, const Ranked *b)
{
	return fabs(a->weight - b->weight) <= same && fabs(a->frequency - b->frequency) <= same;
}

static int compare_by_frequency(const void *a, const void *b)
{
	const Ranked *left = a, *right = b;

	if (left->frequency != right->frequency)
		return left->frequency < right->frequency ? -1 : 1;
	return compare_by_weight(a, b);
}

static int compare_by_size(const void *a, const void *b)
{
	const Ranked *left = a, *right = b;

	if (left->n_items != right->n_items)
		return left->n_items > right->n_items ? -1 : 1;
	return compare_by_weight(a, b);
}

/*
 * How many from `all` on differ from their neighbours by no more than counts as equal. Two that are
 * equal are always in one run, since those between them are closer still; the ends of a run may
 * differ by more, so each pair is compared again.
 */
static uint32_t weight_run(const Ranked *all, uint32_t n)
{
	uint32_t end = 1;

	while (end < n && all[end].weight - all[end - 1].weight <= same)
		end++;
	return end;
}

static uint32_t frequency_run(const Ranked *all, uint32_t n)
{
	uint32_t end = 1;

	while (end < n && all[end].frequency - all[end - 1].frequency <= same)
		end++;
	return end;
}

/* Whether all supports of a run are equal, not only those of neighbours. */
static bool is_uniform(const Ranked *all, uint32_t n)
{
	double least_weight = all[0].weight, most_weight = all[0].weight;

	for (uint32_t i = 1; i < n; i++) {
		least_weight = MIN(least_weight, all[i].weight);
		most_weight = MAX(most_weight, all[i].weight);
	}
	return most_weight - least_weight <= same &&
	       all[n - 1].frequency - all[0].frequency <= same;
}

/*
 * Marks what is closed among sequences that may have equal supports. From the largest to the
 * smallest, since what a sequence is contained in, is contained in a closed one, of which there
 * are few: every subset of a set of 16 attributes may have the same supports. Only where supports
 * drift by less than counts as equal each time, must those that are not closed be looked at too.
 */
static void mark_run(Ranked *all, uint32_t n, bool *out_is_closed)
{
	bool has_drift = !is_uniform(all, n);
	g_autoptr(GArray) closed = g_array_new(FALSE, FALSE, sizeof(Ranked));

	qsort(all, n, sizeof(Ranked), compare_by_size);
	for (uint32_t i = 0; i < n; i++) {
		bool is_closed = true;
		for (guint j = 0; j < closed->len && is_closed; j++) {
			const Ranked *large = &g_array_index(closed, Ranked, j);
			is_closed = !has_same_supports(large, &all[i]) ||
			            !is_proper_super(large, &all[i]);
		}
		for (uint32_t j = 0; has_drift && j < i && is_closed; j++)
			is_closed = !has_same_supports(&all[j], &all[i]) ||
			            !is_proper_super(&all[j], &all[i]);
		out_is_closed[all[i].index] = is_closed;
		if (is_closed)
			g_array_append_val(closed, all[i]);
	}
}

void lode_closed_mark(const LodeMiningRun *run, bool *out_is_closed)
{
	uint32_t n = run->sequences->len;
	g_autofree Ranked *all = g_new(Ranked, n + 1);

	for (uint32_t i = 0; i < n; i++)
		all[i] = rank(run, i);
	qsort(all, n, sizeof(Ranked), compare_by_weight);
	for (uint32_t first = 0, n_alike; first < n; first += n_alike) {
		n_alike = weight_run(all + first, n - first);
		qsort(all + first, n_alike, sizeof(Ranked), compare_by_frequency);
		for (uint32_t at = first, n_run; at < first + n_alike; at += n_run) {
			n_run = frequency_run(all + at, first + n_alike - at);
			mark_run(all + at, n_run, out_is_closed);
		}
	}
}

/* In canonical order a sequence's extension by one item, if any, comes right after it. */
static bool has_extension(const LodeMiningRun *run, uint32_t index)
{
	return index + 1 < run->sequences->len &&
	       g_array_index(run->sequences, LodeSequence, index + 1).n_items >
	               g_array_index(run->sequences, LodeSequence, index).n_items;
}

/* The fewest of the maximal sequences so far that have one of its attributes; each that contains it
 * is among them. */
static const GArray *candidates_of(GArray *const *having, const Ranked *one)
{
	const GArray *fewest = having[LODE_ITEM_ATTRIBUTE(one->items[0])];

	for (uint32_t i = 1; i < one->n_items; i++) {
		const GArray *next = having[LODE_ITEM_ATTRIBUTE(one->items[i])];
		fewest = next->len < fewest->len ? next : fewest;
	}
	return fewest;
}

static bool is_in_none(const GArray *candidates, const Ranked *all, const Ranked *one)
{
	for (guint i = 0; i < candidates->len; i++)
		if (is_proper_super(&all[g_array_index(candidates, uint32_t, i)], one))
			return false;
	return true;
}

/* Once for each of its attributes. */
static void add_maximal(GArray **having, const Ranked *all, uint32_t at)
{
	for (uint32_t i = 0; i < all[at].n_items; i++) {
		GArray *list = having[LODE_ITEM_ATTRIBUTE(all[at].items[i])];
		if (list->len == 0 || g_array_index(list, uint32_t, list->len - 1) != at)
			g_array_append_val(list, at);
	}
}

void lode_maximal_mark(const LodeMiningRun *run, bool *out_is_maximal)
{
	uint32_t n = run->sequences->len, n_attributes = run->attributes->len;
	g_autofree Ranked *all = g_new(Ranked, n + 1);
	g_autofree GArray **having = g_new(GArray *, n_attributes + 1);

	for (uint32_t i = 0; i < n; i++) {
		all[i] = rank(run, i);
		out_is_maximal[i] = !has_extension(run, i);
	}
	for (uint32_t i = 0; i < n_attributes; i++)
		having[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	qsort(all, n, sizeof(Ranked), compare_by_size);
	for (uint32_t i = 0; i < n; i++) {
		bool *is_maximal = &out_is_maximal[all[i].index];
		*is_maximal = *is_maximal &&
		              is_in_none(candidates_of(having, &all[i]), all, &all[i]);
		if (*is_maximal)
			add_maximal(having, all, i);
	}
	for (uint32_t i = 0; i < n_attributes; i++)
		g_array_unref(having[i]);
}
