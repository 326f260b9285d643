/* SPDX-License-Identifier: MIT */
/*
 * The strides of instructions: of each the address that it touched last and how far that was from
 * the one before. Direct-mapped by the instruction's address, loads and stores apart.
 *
 * Source: J.-L. Baer, T.-F. Chen, "An effective on-chip preloading scheme to reduce data access
 * penalty", Supercomputing 1991 (the reference prediction table, here of two strides).
 * Private to caches/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LODE_STRIDE_ENTRIES = 1024 };

typedef struct {
	uint64_t key; /* 2 × instruction + 1 for a store */
	uint64_t last, stride;
	bool is_used;
} LodeStrideEntry;

typedef struct LodeStrideTable {
	LodeStrideEntry entries[LODE_STRIDE_ENTRIES];
} LodeStrideTable;

/*
 * Notes an access; whether it came as far after the last one as that one after the one before, and
 * where the next would be then.
 */
static inline bool lode_stride_table_train(LodeStrideTable *self, uint64_t instruction,
	bool is_store, uint64_t address, uint64_t *out_next)
{
	uint64_t key = instruction * 2 + is_store;
	LodeStrideEntry *entry = &self->entries[key % LODE_STRIDE_ENTRIES];
	uint64_t stride = address - entry->last;
	bool is_known = entry->is_used && entry->key == key;
	bool is_same = is_known && stride == entry->stride && stride != 0;

	*entry = (LodeStrideEntry){key, address, is_known ? stride : 0, true};
	if (is_same)
		*out_next = address + stride;
	return is_same;
}
