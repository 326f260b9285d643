/* SPDX-License-Identifier: MIT */
#include "caches/sets/full_lru.h"

#include <stdlib.h>

enum { MAX_ENTRIES = 1 << 16, NOBODY = 0 };

/* The one numbered 0 is before the newest and after the oldest. */
typedef struct FullLruEntry {
	uint64_t number;
	uint32_t newer, older;
	uint32_t next; /* in its bucket */
} Entry;

static uint32_t *bucket_of(const LodeFullLru *self, uint64_t number)
{
	return &self->buckets[number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - self->bucket_bits)];
}

bool lode_full_lru_init(LodeFullLru *self, uint32_t n_entries)
{
	*self = (LodeFullLru){.n_entries = n_entries, .bucket_bits = 1};
	if (n_entries == 0 || n_entries > MAX_ENTRIES)
		return false;
	while (1u << self->bucket_bits < 2 * n_entries)
		self->bucket_bits++;
	self->entries = calloc((size_t)n_entries + 1, sizeof(*self->entries));
	self->buckets = calloc((size_t)1 << self->bucket_bits, sizeof(*self->buckets));
	if (self->entries != NULL && self->buckets != NULL)
		return true;
	lode_full_lru_clear(self);
	return false;
}

void lode_full_lru_clear(LodeFullLru *self)
{
	free(self->entries);
	free(self->buckets);
	*self = (LodeFullLru){0};
}

static void take_out(LodeFullLru *self, const Entry *entry)
{
	self->entries[entry->newer].older = entry->older;
	self->entries[entry->older].newer = entry->newer;
}

static void make_newest(LodeFullLru *self, uint32_t index)
{
	Entry *ends = &self->entries[NOBODY], *entry = &self->entries[index];

	entry->newer = NOBODY;
	entry->older = ends->older;
	self->entries[ends->older].newer = index;
	ends->older = index;
}

static void take_from_bucket(LodeFullLru *self, uint32_t index)
{
	uint32_t *at = bucket_of(self, self->entries[index].number);

	while (*at != index)
		at = &self->entries[*at].next;
	*at = self->entries[index].next;
}

bool lode_full_lru_use(LodeFullLru *self, uint64_t number)
{
	uint32_t *bucket = bucket_of(self, number), index = *bucket;

	while (index != NOBODY && self->entries[index].number != number)
		index = self->entries[index].next;
	bool is_held = index != NOBODY;
	if (is_held) {
		take_out(self, &self->entries[index]);
	} else if (self->n_used < self->n_entries) {
		index = ++self->n_used;
	} else {
		index = self->entries[NOBODY].newer;
		take_out(self, &self->entries[index]);
		take_from_bucket(self, index);
	}
	if (!is_held) {
		self->entries[index].number = number;
		self->entries[index].next = *bucket;
		*bucket = index;
	}
	make_newest(self, index);
	return is_held;
}
