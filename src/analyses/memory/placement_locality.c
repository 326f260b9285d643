/* SPDX-License-Identifier: MIT */
/*
 * Ranges are laid out once as pieces that do not overlap, the later range of the file on top; then
 * pages and pieces are walked together.
 */
#include "analyses/memory/placement_locality.h"

#include <math.h>
#include <stdlib.h>

enum { NO_RANGE = -1 };

typedef struct {
	uint64_t address; /* from here on… */
	guint range;
	bool is_start; /* …it holds, or holds no more */
} Border;

static int compare_borders(const void *a, const void *b)
{
	const Border *first = a, *second = b;

	if (first->address != second->address)
		return first->address < second->address ? -1 : 1;
	return (first->range > second->range) - (first->range < second->range);
}

/* Ranges are rounded to pages as applying them does. */
static GArray *find_borders(const LodePlacement *placement)
{
	GArray *borders = g_array_new(FALSE, FALSE, sizeof(Border));

	for (guint i = 0; i < placement->ranges->len; i++) {
		const LodePlacedRange *range = &LODE_AT(placement->ranges, LodePlacedRange, i);
		if (range->kind == LODE_PLACE_OBJECT)
			continue;
		Border start = {range->start & ~(LODE_PAGE_SIZE - 1), i, true};
		Border end = {(range->end - 1) | (LODE_PAGE_SIZE - 1), i, false};
		g_array_append_val(borders, start);
		g_array_append_val(borders, end);
	}
	g_array_sort(borders, compare_borders);
	return borders;
}

static int compare_ranges(const void *a, const void *b, void *unused G_GNUC_UNUSED)
{
	guint first = GPOINTER_TO_UINT(a), second = GPOINTER_TO_UINT(b);

	return (first > second) - (first < second);
}

/* The range of each page, or NO_RANGE. An end's address is the last byte that its range holds. */
static gint64 *find_ranges(const LodePlacement *placement, const LodePageMatrix *matrix)
{
	g_autoptr(GArray) borders = find_borders(placement);
	g_autoptr(GTree) open = g_tree_new_full(compare_ranges, NULL, NULL, NULL);
	gint64 *ranges = g_new(gint64, matrix->pages->len + 1);
	guint next = 0;

	for (guint i = 0; i < matrix->pages->len; i++) {
		uint64_t address = lode_page_matrix_page(matrix, i)->address;
		for (; next < borders->len; next++) {
			const Border *border = &LODE_AT(borders, Border, next);
			if (border->is_start ? border->address > address
					     : border->address >= address)
				break;
			if (border->is_start)
				g_tree_insert(open, GUINT_TO_POINTER(border->range),
					GUINT_TO_POINTER(border->range));
			else
				g_tree_remove(open, GUINT_TO_POINTER(border->range));
		}
		GTreeNode *last = g_tree_node_last(open);
		ranges[i] = last != NULL ? (gint64)GPOINTER_TO_UINT(g_tree_node_key(last))
		                         : NO_RANGE;
	}
	return ranges;
}

/* The memory of a page; LODE_NONE: of any, by equal shares. */
static uint32_t memory_of(const LodePlacement *placement, const LodeUsedPage *page, gint64 range)
{
	if (range == NO_RANGE)
		return lode_placement_thread_memory(placement, page->first_toucher);
	const LodePlacedRange *placed = &LODE_AT(placement->ranges, LodePlacedRange, range);
	return placed->kind == LODE_PLACE_RANGE ? placed->memory : LODE_NONE;
}

static double mean_distance(
	const LodeTopology *topology, uint32_t n, uint32_t thread, uint32_t page)
{
	double sum = 0;

	if (thread != LODE_NONE && page != LODE_NONE)
		return lode_topology_distance(topology, thread, page);
	for (uint32_t from = 0; from < n; from++)
		for (uint32_t to = 0; to < n; to++)
			if ((thread == LODE_NONE || thread == from) &&
				(page == LODE_NONE || page == to))
				sum += lode_topology_distance(topology, from, to);
	return sum / (thread == LODE_NONE && page == LODE_NONE ? (double)n * n : n);
}

static void count_page(LodePlacementLocality *self, const LodePlacement *placement,
	const LodeTopology *topology, const LodePageUse *uses, uint32_t n_uses, uint32_t memory)
{
	uint32_t n = placement->n_memories;

	for (uint32_t i = 0; i < n_uses; i++) {
		uint32_t thread = lode_placement_thread_memory(placement, uses[i].thread);
		bool is_spread = thread == LODE_NONE || memory == LODE_NONE;
		self->weight += uses[i].weight;
		if (is_spread)
			self->local += uses[i].weight / n;
		else if (thread == memory)
			self->local += uses[i].weight;
		self->distance += uses[i].weight * mean_distance(topology, n, thread, memory);
	}
}

LodePlacementLocality lode_placement_locality(
	const LodePlacement *placement, const LodePageMatrix *matrix, const LodeTopology *topology)
{
	g_autofree gint64 *ranges = find_ranges(placement, matrix);
	LodePlacementLocality result = {0};

	for (guint i = 0; i < matrix->pages->len; i++) {
		const LodeUsedPage *page = lode_page_matrix_page(matrix, i);
		result.n_placed_pages += ranges[i] != NO_RANGE;
		count_page(&result, placement, topology, lode_page_matrix_uses(matrix, page),
			page->n_uses, memory_of(placement, page, ranges[i]));
	}
	result.distance = topology->distances != NULL && result.weight > 0
	                          ? result.distance / result.weight
	                          : (double)NAN;
	return result;
}
