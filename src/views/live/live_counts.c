/* SPDX-License-Identifier: MIT */
#include "views/live/live_counts.h"

#include "base/arrays/hash.h"
#include "model/address_rule.h"

static guint hash_cell(const void *key)
{
	const LodeLiveCell *cell = key;

	return (guint)lode_hash_slot(cell->address ^ (uint64_t)cell->thread << 48, 32);
}

static gboolean is_same_cell(const void *a, const void *b)
{
	const LodeLiveCell *first = a, *second = b;

	return first->address == second->address && first->thread == second->thread;
}

static GHashTable *new_cells(void)
{
	return g_hash_table_new_full(hash_cell, is_same_cell, g_free, NULL);
}

LodeLiveCounts *lode_live_counts_new(size_t max_cells)
{
	LodeLiveCounts *self = g_new0(LodeLiveCounts, 1);

	self->cells = new_cells();
	self->unit = LODE_LIVE_FINEST_UNIT;
	self->max_cells = max_cells != 0 ? max_cells : LODE_LIVE_MAX_CELLS;
	return self;
}

void lode_live_counts_free(LodeLiveCounts *self)
{
	if (self == NULL)
		return;
	g_hash_table_unref(self->cells);
	g_free(self);
}

/* R. S. Boyer, J. S. Moore, "MJRTY: a fast majority vote algorithm" (1991): votes for different
 * functions cancel each other, so that one with more than half of all votes is what remains. */
void lode_live_vote(const char **function, uint32_t *votes, const char *other, uint32_t other_votes)
{
	if (other == *function) {
		*votes = MIN(*votes, UINT32_MAX - other_votes) + other_votes;
	} else if (other_votes > *votes) {
		*function = other;
		*votes = other_votes - *votes;
	} else {
		*votes -= other_votes;
	}
}

/* Adds a cell to the one at its place in units, which is made if it is missing. */
static void add_cell(LodeLiveCounts *self, const LodeLiveCell *added)
{
	LodeLiveCell key = {.address = added->address & ~(self->unit - 1), .thread = added->thread};
	LodeLiveCell *cell = g_hash_table_lookup(self->cells, &key);

	if (cell == NULL) {
		cell = g_memdup2(added, sizeof(*added));
		cell->address = key.address;
		g_hash_table_add(self->cells, cell);
		return;
	}
	cell->n_loads += added->n_loads;
	cell->n_stores += added->n_stores;
	cell->weight += added->weight;
	/* The current mapping counts: memory may be mapped anew. */
	cell->mapping = added->mapping;
	lode_live_vote(&cell->function, &cell->votes, added->function, added->votes);
	lode_live_vote(&cell->object, &cell->object_votes, added->object, added->object_votes);
}

static void add_cells(LodeLiveCounts *self, GHashTable *cells)
{
	GHashTableIter iterator;
	void *cell;

	g_hash_table_iter_init(&iterator, cells);
	while (g_hash_table_iter_next(&iterator, &cell, NULL))
		add_cell(self, cell);
}

LodeLiveCounts *lode_live_counts_copy(const LodeLiveCounts *self)
{
	LodeLiveCounts *copy = lode_live_counts_new(self->max_cells);

	copy->unit = self->unit;
	add_cells(copy, self->cells);
	return copy;
}

/* The unit stays a power of two, so that a cell of before lies in one cell of after. */
static void coarsen(LodeLiveCounts *self)
{
	g_autoptr(GHashTable) finer = g_steal_pointer(&self->cells);

	self->cells = new_cells();
	self->unit *= 2;
	add_cells(self, finer);
}

void lode_live_counts_add(LodeLiveCounts *self, const LodeLiveAccess *access)
{
	const LodeLiveCell cell = {
		.address = access->address,
		.thread = access->thread,
		.votes = 1,
		.object_votes = 1,
		.n_loads = (access->access & LODE_ACCESS_LOAD) != 0,
		.n_stores = (access->access & LODE_ACCESS_STORE) != 0,
		.weight = access->weight,
		.mapping = access->mapping,
		.object = access->object != NULL ? access->object : access->mapping,
		.function = access->function,
	};

	add_cell(self, &cell);
	/* Threads alone may be more than the cells allowed; then no unit would ever do. */
	while (g_hash_table_size(self->cells) > self->max_cells && self->unit < UINT64_C(1) << 32)
		coarsen(self);
}

void lode_live_counts_reset(LodeLiveCounts *self)
{
	g_hash_table_remove_all(self->cells);
	self->unit = LODE_LIVE_FINEST_UNIT;
}
