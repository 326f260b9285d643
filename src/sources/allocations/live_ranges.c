/* SPDX-License-Identifier: MIT */
/*
 * A balanced tree of disjoint ranges by their start. Each range that is put cuts at most two others
 * and takes the rest whole, so that n of them cost O(n log n) whatever they are.
 */
#include "sources/allocations/live_ranges.h"

struct LodeLiveRanges {
	GTree *ranges; /* LodeLiveRange → the same */
};

static int compare_starts(const void *a, const void *b, void *data)
{
	const LodeLiveRange *x = a, *y = b;

	(void)data;
	return (x->start > y->start) - (x->start < y->start);
}

LodeLiveRanges *lode_live_ranges_new(void)
{
	LodeLiveRanges *self = g_new0(LodeLiveRanges, 1);

	self->ranges = g_tree_new_full(compare_starts, NULL, NULL, g_free);
	return self;
}

void lode_live_ranges_free(LodeLiveRanges *self)
{
	if (self == NULL)
		return;
	g_tree_unref(self->ranges);
	g_free(self);
}

const LodeLiveRange *lode_live_ranges_find_in(
	const LodeLiveRanges *self, uint64_t start, uint64_t end)
{
	LodeLiveRange key = {.start = start};
	GTreeNode *after = g_tree_upper_bound(self->ranges, &key);
	GTreeNode *before = after != NULL ? g_tree_node_previous(after)
	                                  : g_tree_node_last(self->ranges);
	const LodeLiveRange *range = before != NULL ? g_tree_node_value(before) : NULL;

	if (range != NULL && range->end > start)
		return range;
	range = after != NULL ? g_tree_node_value(after) : NULL;
	return range != NULL && range->start < end ? range : NULL;
}

static void insert(LodeLiveRanges *self, const LodeLiveRange *range)
{
	LodeLiveRange *own = g_memdup2(range, sizeof *range);

	g_tree_replace(self->ranges, own, own);
}

/* Cuts out of `old` what lies under `range`. */
static void displace(LodeLiveRanges *self, const LodeLiveRange *old, const LodeLiveRange *range)
{
	LodeLiveRange left = *old, right = *old;

	g_tree_remove(self->ranges, old);
	left.since = right.since = range->since;
	if (left.start < range->start) {
		left.end = range->start;
		insert(self, &left);
	}
	if (right.end > range->end) {
		right.start = range->end;
		insert(self, &right);
	}
}

void lode_live_ranges_put(LodeLiveRanges *self, const LodeLiveRange *range, GArray *ended)
{
	const LodeLiveRange *old;

	g_assert(range->start < range->end);
	while ((old = lode_live_ranges_find_in(self, range->start, range->end)) != NULL) {
		if (ended != NULL)
			g_array_append_vals(ended, old, 1);
		displace(self, old, range);
	}
	insert(self, range);
}

void lode_live_ranges_remove(
	LodeLiveRanges *self, uint64_t start, uint64_t end, uint32_t owner, GArray *ended)
{
	const LodeLiveRange *range;

	while (start < end && (range = lode_live_ranges_find_in(self, start, end)) != NULL) {
		start = range->end;
		if (range->owner != owner)
			continue;
		if (ended != NULL)
			g_array_append_vals(ended, range, 1);
		g_tree_remove(self->ranges, range);
	}
}

const LodeLiveRange *lode_live_ranges_find(const LodeLiveRanges *self, uint64_t address)
{
	return address < UINT64_MAX ? lode_live_ranges_find_in(self, address, address + 1) : NULL;
}

void lode_live_ranges_list(const LodeLiveRanges *self, GArray *out)
{
	for (GTreeNode *node = g_tree_node_first(self->ranges); node != NULL;
		node = g_tree_node_next(node))
		g_array_append_vals(out, g_tree_node_value(node), 1);
}
