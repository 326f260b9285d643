/* SPDX-License-Identifier: MIT */
/*
 * Which of many ranges of addresses, each there for a time, held an address at some time. A range
 * is cut into blocks of 2^k bytes that lie at multiples of 2^k; what was in one block follows one
 * another in time, so that it is found by bisection:
 *
 *   level 5  │       B       │       C       │
 *   level 4  │ A │   │   │   │   │   │ A │ D │      B is 32 bytes, A and D are 16
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeAllocationIndex LodeAllocationIndex;

LodeAllocationIndex *lode_allocation_index_new(void);
void lode_allocation_index_free(LodeAllocationIndex *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAllocationIndex, lode_allocation_index_free)

typedef struct {
	uint64_t start, end; /* below 2^63 */
	uint64_t begin_ns;
	uint32_t owner;
} LodeIndexedRange;

/* Adds a range; gives how many bytes that took. Ranges that are there at once must not overlap. */
size_t lode_allocation_index_add(LodeAllocationIndex *self, const LodeIndexedRange *range);

/* After the last was added. */
void lode_allocation_index_sort(LodeAllocationIndex *self);

/*
 * The owners that may hold the address then: the last that began of each level, at most
 * LODE_ALLOCATION_INDEX_LEVELS. Gives how many. They are to be checked: a range is rounded to 16
 * bytes, and its end is not known here.
 */
enum { LODE_ALLOCATION_INDEX_LEVELS = 64 };
size_t lode_allocation_index_find(
	const LodeAllocationIndex *self, uint64_t address, uint64_t time_ns, uint32_t *out_owners);
