/* SPDX-License-Identifier: MIT */
#include "sources/allocation_index.h"

#include "base/partition_point.h"

enum { LOWEST_LEVEL = 4 };

typedef struct {
	uint64_t block, begin_ns;
	uint32_t owner;
} Entry;

struct LodeAllocationIndex {
	GArray *levels[LODE_ALLOCATION_INDEX_LEVELS]; /* Entry; NULL: empty */
};

LodeAllocationIndex *lode_allocation_index_new(void)
{
	return g_new0(LodeAllocationIndex, 1);
}

void lode_allocation_index_free(LodeAllocationIndex *self)
{
	if (self == NULL)
		return;
	for (unsigned level = 0; level < LODE_ALLOCATION_INDEX_LEVELS; level++)
		g_clear_pointer(&self->levels[level], g_array_unref);
	g_free(self);
}

static void add_block(
	LodeAllocationIndex *self, unsigned level, uint64_t start, const LodeIndexedRange *range)
{
	const Entry entry = {start >> level, range->begin_ns, range->owner};

	if (self->levels[level] == NULL)
		self->levels[level] = g_array_new(FALSE, FALSE, sizeof(Entry));
	g_array_append_val(self->levels[level], entry);
}

/* The largest block that begins at `start` and ends no later than `end`. */
static unsigned level_at(uint64_t start, uint64_t end)
{
	unsigned by_place = start == 0 ? 63 : (unsigned)__builtin_ctzll(start);
	unsigned by_size = 63 - (unsigned)__builtin_clzll(end - start);

	return MIN(by_place, by_size);
}

size_t lode_allocation_index_add(LodeAllocationIndex *self, const LodeIndexedRange *range)
{
	const uint64_t mask = (UINT64_C(1) << LOWEST_LEVEL) - 1;
	uint64_t start = range->start & ~mask, end = (range->end + mask) & ~mask;
	size_t n = 0;

	if (range->start >= range->end)
		return 0;
	for (unsigned level; start < end; start += UINT64_C(1) << level, n++) {
		level = level_at(start, end);
		add_block(self, level, start, range);
	}
	return n * sizeof(Entry);
}

static int compare(const void *a, const void *b)
{
	const Entry *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

void lode_allocation_index_sort(LodeAllocationIndex *self)
{
	for (unsigned level = 0; level < LODE_ALLOCATION_INDEX_LEVELS; level++)
		if (self->levels[level] != NULL)
			g_array_sort(self->levels[level], compare);
}

/* The last of the block that began at or before that time; NULL: none. */
static const Entry *find_in_level(const GArray *level, uint64_t block, uint64_t time_ns)
{
	const Entry *entries = (const Entry *)(const void *)level->data;
	guint low = LODE_PARTITION_POINT(level->len, i,
		entries[i].block < block ||
			(entries[i].block == block && entries[i].begin_ns <= time_ns));

	if (low == 0 || g_array_index(level, Entry, low - 1).block != block)
		return NULL;
	return &g_array_index(level, Entry, low - 1);
}

size_t lode_allocation_index_find(
	const LodeAllocationIndex *self, uint64_t address, uint64_t time_ns, uint32_t *out_owners)
{
	size_t n = 0;

	for (unsigned i = LOWEST_LEVEL; i < LODE_ALLOCATION_INDEX_LEVELS; i++) {
		const Entry *entry = self->levels[i] != NULL
		                             ? find_in_level(self->levels[i], address >> i, time_ns)
		                             : NULL;
		if (entry != NULL)
			out_owners[n++] = entry->owner;
	}
	return n;
}
