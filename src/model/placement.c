/* SPDX-License-Identifier: MIT */
#include "model/placement.h"

#include "base/arrays/sort_order.h"
#include "model/index.h"

#include <stdbool.h>

static void clear_range(void *data)
{
	LodePlacedRange *range = data;

	g_free(range->object);
	g_free(range->note);
}

/* LODE_NONE for each thread. */
static GArray *unplaced(uint32_t n)
{
	GArray *array = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t none = LODE_NONE;
		g_array_append_val(array, none);
	}
	return array;
}

LodePlacement *lode_placement_new(uint32_t n_memories, uint32_t n_threads)
{
	LodePlacement *self = g_new0(LodePlacement, 1);

	g_assert(n_memories <= LODE_PLACEMENT_MAX_MEMORIES);
	g_assert(n_threads <= LODE_PLACEMENT_MAX_THREADS);
	self->n_memories = n_memories;
	self->n_threads = n_threads;
	self->thread_memories = unplaced(n_threads);
	self->thread_cpus = unplaced(n_threads);
	self->ranges = g_array_new(FALSE, FALSE, sizeof(LodePlacedRange));
	g_array_set_clear_func(self->ranges, clear_range);
	return self;
}

void lode_placement_free(LodePlacement *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->ranges);
	g_array_unref(self->thread_cpus);
	g_array_unref(self->thread_memories);
	g_free(self->topology);
	g_free(self);
}

void lode_placement_add(LodePlacement *self, const LodePlacedRange *range)
{
	LodePlacedRange copy = *range;

	copy.object = g_strdup(range->object);
	copy.note = g_strdup(range->note);
	g_array_append_val(self->ranges, copy);
}

typedef struct {
	uint64_t address; /* from here on the range holds, or holds no more */
	guint range;
	bool is_start;
} Border;

LODE_ORDER(compare_borders, Border, LODE_ASCENDING(address), LODE_ASCENDING(range))

static int compare_numbers(const void *a, const void *b, void *unused G_GNUC_UNUSED)
{
	guint first = GPOINTER_TO_UINT(a), second = GPOINTER_TO_UINT(b);

	return (first > second) - (first < second);
}

static GArray *find_borders(const LodePlacement *self, uint64_t page_size)
{
	GArray *borders = g_array_new(FALSE, FALSE, sizeof(Border));

	for (guint i = 0; i < self->ranges->len; i++) {
		const LodePlacedRange *range = &LODE_AT(self->ranges, LodePlacedRange, i);
		uint64_t last = range->end - 1;
		/* The last page of all addresses has no end that is a number. */
		uint64_t limit = UINT64_MAX - page_size;
		if (range->kind == LODE_PLACE_OBJECT || range->start > limit)
			continue;
		Border start = {range->start / page_size * page_size, i, true};
		Border end = {(MIN(last, limit) / page_size + 1) * page_size, i, false};
		g_array_append_val(borders, start);
		g_array_append_val(borders, end);
	}
	g_array_sort(borders, compare_borders);
	return borders;
}

static void add_piece(
	const LodePlacement *self, GArray *pieces, guint number, uint64_t start, uint64_t end)
{
	const LodePlacedRange *range = &LODE_AT(self->ranges, LodePlacedRange, number);
	LodePlacementPiece piece = {
		start, end, range->kind == LODE_PLACE_RANGE ? range->memory : LODE_NONE};
	LodePlacementPiece *last = pieces->len > 0
	                                   ? &LODE_AT(pieces, LodePlacementPiece, pieces->len - 1)
	                                   : NULL;

	if (last != NULL && last->end == start && last->memory == piece.memory)
		last->end = end;
	else
		g_array_append_val(pieces, piece);
}

GArray *lode_placement_pieces(const LodePlacement *self, uint64_t page_size)
{
	g_autoptr(GArray) borders = find_borders(self, page_size);
	g_autoptr(GTree) open = g_tree_new_full(compare_numbers, NULL, NULL, NULL);
	GArray *pieces = g_array_new(FALSE, FALSE, sizeof(LodePlacementPiece));

	for (guint i = 0; i < borders->len; i++) {
		const Border *border = &LODE_AT(borders, Border, i);
		void *number = GUINT_TO_POINTER(border->range);
		if (border->is_start)
			g_tree_insert(open, number, number);
		else
			g_tree_remove(open, number);
		GTreeNode *top = g_tree_node_last(open);
		if (top != NULL && border[1].address > border->address)
			add_piece(self, pieces, GPOINTER_TO_UINT(g_tree_node_key(top)),
				border->address, border[1].address);
	}
	return pieces;
}
