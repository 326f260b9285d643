/* SPDX-License-Identifier: MIT */
/*
 * Cells stand in one array in the order of their first access; an open-addressed index finds them.
 * GHashTable would take an allocation for each key and is slower by a fifth and more
 * (bench/address_histogram.c); a live picture waits for each access.
 */
#include "analyses/memory/cells/address_histogram.h"

#include "analyses/memory/page_faults.h"
#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

static const struct {
	const char *name;
	uint64_t bytes;
} granularities[] = {
	{"page", LODE_PAGE_BYTES},
	{"line", LODE_LINE_BYTES},
	{"word", LODE_WORD_BYTES},
};

static const uint64_t maximum_granularity = UINT64_C(1) << 40;

/* The tag avoids reading cells of other keys, which are far in memory. */
typedef struct {
	uint32_t cell; /* + 1; 0: free */
	uint32_t tag;
} Slot;

struct LodeAddressHistogram {
	uint64_t granularity;
	unsigned shift;
	GArray *cells;           /* LodeHistogramCell, by first access */
	Slot *slots;             /* never more than half full */
	size_t n_slots;          /* a power of two */
	uint32_t last;           /* the cell of the last access: programs stay where they are */
	GArray *sorted, *totals; /* made at the first use; empty: to be made */
};

bool lode_address_granularity_from_text(const char *text, uint64_t *out_bytes)
{
	static const char letters[] = "KMG";
	char *end = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(granularities); i++) {
		if (strcmp(granularities[i].name, text) == 0) {
			*out_bytes = granularities[i].bytes;
			return true;
		}
	}
	if (!g_ascii_isdigit(text[0]))
		return false;
	uint64_t bytes = g_ascii_strtoull(text, &end, 10);
	const char *letter = *end != '\0' ? strchr(letters, *end) : NULL;
	unsigned shift = letter != NULL ? (unsigned)(letter - letters + 1) * 10 : 0;
	if (end[letter != NULL ? 1 : 0] != '\0' || bytes > maximum_granularity >> shift)
		return false;
	bytes <<= shift;
	if (bytes == 0 || (bytes & (bytes - 1)) != 0)
		return false;
	*out_bytes = bytes;
	return true;
}

const char *lode_address_granularity_name(uint64_t bytes)
{
	for (size_t i = 0; i < G_N_ELEMENTS(granularities); i++)
		if (granularities[i].bytes == bytes)
			return granularities[i].name;
	return "cell";
}

LodeAddressHistogram *lode_address_histogram_new(uint64_t granularity)
{
	LodeAddressHistogram *self = g_new0(LodeAddressHistogram, 1);

	g_assert(granularity > 0 && (granularity & (granularity - 1)) == 0);
	self->granularity = granularity;
	self->shift = (unsigned)__builtin_ctzll(granularity);
	self->cells = g_array_new(FALSE, FALSE, sizeof(LodeHistogramCell));
	self->sorted = g_array_new(FALSE, FALSE, sizeof(LodeHistogramCell));
	self->totals = g_array_new(FALSE, FALSE, sizeof(LodeHistogramCell));
	self->n_slots = FIRST_SLOTS;
	self->slots = g_new0(Slot, self->n_slots);
	return self;
}

void lode_address_histogram_free(LodeAddressHistogram *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->totals);
	g_array_unref(self->sorted);
	g_array_unref(self->cells);
	g_free(self->slots);
	g_free(self);
}

/* The low bits choose the slot, the high ones are the tag. */
static uint64_t hash_key(const LodeAddressHistogram *self, uint32_t thread, uint64_t address)
{
	return lode_hash_append(lode_hash_append(0, address >> self->shift), thread);
}

static bool is_cell(const LodeHistogramCell *cell, uint32_t thread, uint64_t address)
{
	return cell->address == address && cell->thread == thread;
}

/* Doubles the index; the cells stay where they are. */
static void grow_index(LodeAddressHistogram *self)
{
	g_free(self->slots);
	self->n_slots *= 2;
	self->slots = g_new0(Slot, self->n_slots);
	for (guint i = 0; i < self->cells->len; i++) {
		const LodeHistogramCell *cell = &LODE_AT(self->cells, LodeHistogramCell, i);
		uint64_t hash = hash_key(self, cell->thread, cell->address);
		size_t slot = (size_t)hash & (self->n_slots - 1);
		while (self->slots[slot].cell != 0)
			slot = (slot + 1) & (self->n_slots - 1);
		self->slots[slot] = (Slot){i + 1, (uint32_t)(hash >> 32)};
	}
}

static uint32_t add_cell(
	LodeAddressHistogram *self, Slot *slot, uint32_t tag, LodeHistogramCell cell)
{
	uint32_t index = self->cells->len;

	g_assert(index < UINT32_MAX / 2);
	g_array_append_val(self->cells, cell);
	*slot = (Slot){index + 1, tag};
	if ((size_t)self->cells->len * 2 > self->n_slots)
		grow_index(self);
	return index;
}

static uint32_t find_cell(LodeAddressHistogram *self, uint32_t thread, uint64_t address)
{
	uint64_t hash = hash_key(self, thread, address);
	const uint32_t tag = (uint32_t)(hash >> 32);
	size_t at = (size_t)hash & (self->n_slots - 1);

	while (self->slots[at].cell != 0) {
		uint32_t index = self->slots[at].cell - 1;
		if (self->slots[at].tag == tag &&
			is_cell(&LODE_AT(self->cells, LodeHistogramCell, index), thread, address))
			return index;
		at = (at + 1) & (self->n_slots - 1);
	}
	LodeHistogramCell cell = {.address = address, .thread = thread};
	return add_cell(self, &self->slots[at], tag, cell);
}

void lode_address_histogram_add(LodeAddressHistogram *self, uint32_t thread, uint64_t address,
	uint8_t access, double weight)
{
	uint64_t first = address & ~(self->granularity - 1);
	uint32_t index = self->last;

	if (index >= self->cells->len ||
		!is_cell(&LODE_AT(self->cells, LodeHistogramCell, index), thread, first))
		index = find_cell(self, thread, first);
	LodeHistogramCell *cell = &LODE_AT(self->cells, LodeHistogramCell, index);
	cell->n_accesses++;
	cell->n_loads += (access & LODE_ACCESS_LOAD) != 0;
	cell->n_stores += (access & LODE_ACCESS_STORE) != 0;
	cell->weight += weight;
	self->last = index;
	self->sorted->len = 0;
	self->totals->len = 0;
}

bool lode_address_histogram_counts(const LodeProfile *profile, const LodeMemorySample *sample)
{
	return sample->rule != LODE_RULE_NONE && !lode_page_faults_is_event(profile, sample->event);
}

void lode_address_histogram_add_samples(LodeAddressHistogram *self, const LodeProfile *profile,
	const uint32_t *samples, size_t n_samples)
{
	const LodeMemory *memory = lode_memory_of(profile);
	g_autofree bool *are_faults = lode_page_faults_events(profile);

	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			memory->samples, LodeMemorySample, samples[i]);
		if (sample->rule != LODE_RULE_NONE && !are_faults[sample->event])
			lode_address_histogram_add(self, sample->thread, sample->address,
				sample->access, sample->weight);
	}
}

LODE_ORDER(compare_by_thread, LodeHistogramCell, LODE_ASCENDING(thread), LODE_ASCENDING(address))

LODE_ORDER(compare_by_address, LodeHistogramCell, LODE_ASCENDING(address), LODE_ASCENDING(thread))

static void copy_sorted(GArray *to, const GArray *from, GCompareFunc compare)
{
	g_array_set_size(to, 0);
	if (from->len == 0)
		return;
	g_array_append_vals(to, from->data, from->len);
	qsort(to->data, to->len, sizeof(LodeHistogramCell), compare);
}

const LodeHistogramCell *lode_address_histogram_cells(LodeAddressHistogram *self, size_t *out_n)
{
	if (self->sorted->len == 0)
		copy_sorted(self->sorted, self->cells, compare_by_thread);
	*out_n = self->sorted->len;
	return (const LodeHistogramCell *)(void *)self->sorted->data;
}

/* Adds up cells of one address, which follow each other. */
static void merge_threads(GArray *cells)
{
	guint kept = 0;

	for (guint i = 0; i < cells->len; i++) {
		LodeHistogramCell *cell = &LODE_AT(cells, LodeHistogramCell, i);
		LodeHistogramCell *last = &LODE_AT(cells, LodeHistogramCell, kept - (kept > 0));
		if (kept > 0 && last->address == cell->address) {
			last->n_accesses += cell->n_accesses;
			last->n_loads += cell->n_loads;
			last->n_stores += cell->n_stores;
			last->weight += cell->weight;
			continue;
		}
		cell->thread = LODE_NONE;
		LODE_AT(cells, LodeHistogramCell, kept++) = *cell;
	}
	g_array_set_size(cells, kept);
}

const LodeHistogramCell *lode_address_histogram_totals(LodeAddressHistogram *self, size_t *out_n)
{
	if (self->totals->len == 0) {
		copy_sorted(self->totals, self->cells, compare_by_address);
		merge_threads(self->totals);
	}
	*out_n = self->totals->len;
	return (const LodeHistogramCell *)(void *)self->totals->data;
}
