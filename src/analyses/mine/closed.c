/* SPDX-License-Identifier: MIT */
#include "analyses/mine/closed.h"

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

uint64_t lode_sequence_signature(const uint32_t *items, uint32_t n)
{
	uint64_t signature = 0;

	for (uint32_t i = 0; i < n; i++)
		signature |= UINT64_C(1)
		             << ((LODE_ITEM_ATTRIBUTE(items[i]) * UINT32_C(2654435761)) >> 26);
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

static bool has_equal_super(const Ranked *all, uint32_t n, uint32_t at)
{
	const Ranked *one = &all[at];

	for (uint32_t i = at + 1; i < n && all[i].weight - one->weight <= same; i++)
		if (fabs(all[i].frequency - one->frequency) <= same &&
			is_proper_super(&all[i], one))
			return true;
	for (uint32_t i = at; i-- > 0 && one->weight - all[i].weight <= same;)
		if (fabs(all[i].frequency - one->frequency) <= same &&
			is_proper_super(&all[i], one))
			return true;
	return false;
}

void lode_closed_mark(const LodeMiningRun *run, bool *out_is_closed)
{
	uint32_t n = run->sequences->len;
	g_autofree Ranked *all = g_new(Ranked, n + 1);

	for (uint32_t i = 0; i < n; i++)
		all[i] = rank(run, i);
	qsort(all, n, sizeof(Ranked), compare_by_weight);
	for (uint32_t i = 0; i < n; i++)
		out_is_closed[all[i].index] = !has_equal_super(all, n, i);
}

/* In canonical order a sequence's extension by one item, if any, comes right behind it. */
static bool has_extension(const LodeMiningRun *run, uint32_t index)
{
	return index + 1 < run->sequences->len &&
	       g_array_index(run->sequences, LodeSequence, index + 1).n_items >
	               g_array_index(run->sequences, LodeSequence, index).n_items;
}

static int compare_by_last(const void *a, const void *b)
{
	const Ranked *left = a, *right = b;
	uint32_t left_last = LODE_ITEM_ATTRIBUTE(left->items[left->n_items - 1]);
	uint32_t right_last = LODE_ITEM_ATTRIBUTE(right->items[right->n_items - 1]);

	if (left_last != right_last)
		return left_last < right_last ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

void lode_maximal_mark(const LodeMiningRun *run, bool *out_is_maximal)
{
	uint32_t n = run->sequences->len;
	g_autofree Ranked *all = g_new(Ranked, n + 1);

	for (uint32_t i = 0; i < n; i++) {
		all[i] = rank(run, i);
		out_is_maximal[i] = !has_extension(run, i);
	}
	/*
	 * Prefixes of reported sequences are reported, so the shortest super-sequence of one that
	 * has no extension ends with the item that its own last item is found in.
	 */
	qsort(all, n, sizeof(Ranked), compare_by_last);
	for (uint32_t first = 0; first < n;) {
		uint32_t end = first + 1;
		while (end < n &&
			LODE_ITEM_ATTRIBUTE(all[end].items[all[end].n_items - 1]) ==
				LODE_ITEM_ATTRIBUTE(all[first].items[all[first].n_items - 1]))
			end++;
		for (uint32_t i = first; i < end; i++)
			for (uint32_t j = first; j < end && out_is_maximal[all[i].index]; j++)
				if (is_proper_super(&all[j], &all[i]))
					out_is_maximal[all[i].index] = false;
		first = end;
	}
}
