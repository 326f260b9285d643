/* SPDX-License-Identifier: MIT */
#include "naive_marks.h"

#include <math.h>

typedef struct {
	uint32_t n;
	uint64_t elements[16]; /* sets of attributes */
} Elements;

static Elements elements_of(const LodeMiningRun *run, size_t index)
{
	const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, index);
	const uint32_t *items = lode_mining_run_items(run, index);
	Elements all = {0};

	for (uint32_t i = 0; i < sequence->n_items; i++) {
		all.n += (items[i] & LODE_ITEM_START) != 0;
		all.elements[all.n - 1] |= UINT64_C(1) << LODE_ITEM_ATTRIBUTE(items[i]);
	}
	return all;
}

/* Tries every assignment of a's elements from i on to b's from j on. */
static bool fits(const Elements *a, uint32_t i, const Elements *b, uint32_t j)
{
	if (i == a->n)
		return true;
	for (; j < b->n; j++)
		if ((a->elements[i] & ~b->elements[j]) == 0 && fits(a, i + 1, b, j + 1))
			return true;
	return false;
}

bool naive_is_contained(const LodeMiningRun *run, size_t a, size_t b)
{
	Elements small = elements_of(run, a), large = elements_of(run, b);

	return fits(&small, 0, &large, 0);
}

static bool has_equal_supports(const LodeMiningRun *run, size_t a, size_t b)
{
	const LodeSequence *left = &g_array_index(run->sequences, LodeSequence, a);
	const LodeSequence *right = &g_array_index(run->sequences, LodeSequence, b);

	return fabs(left->weight - right->weight) <= 1e-9 &&
	       fabs(left->frequency - right->frequency) <= 1e-9;
}

static void mark(const LodeMiningRun *run, bool only_equal, bool *out_is_kept)
{
	for (guint a = 0; a < run->sequences->len; a++) {
		out_is_kept[a] = true;
		for (guint b = 0; b < run->sequences->len; b++)
			if (a != b && naive_is_contained(run, a, b) &&
				(!only_equal || has_equal_supports(run, a, b)))
				out_is_kept[a] = false;
	}
}

void naive_closed_mark(const LodeMiningRun *run, bool *out_is_closed)
{
	mark(run, true, out_is_closed);
}

void naive_maximal_mark(const LodeMiningRun *run, bool *out_is_maximal)
{
	mark(run, false, out_is_maximal);
}
