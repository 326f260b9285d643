/* SPDX-License-Identifier: MIT */
/*
 * The lines that a copy of a cache lost to other cores: the store that took each away, and the last
 * stores to its bytes since then. So a miss due to sharing names the store that caused it.
 *
 *   line 0x…080   taken by   thread 2, bytes 8 … 15
 *                 since      thread 2, instruction 0x…1189: bytes 8 … 15
 *                            thread 3, instruction 0x…11a0: bytes 0 … 3
 *
 * Private to caches/.
 */
#pragma once

#include "caches/cache_simulation.h"
#include "caches/sets/line_map.h"

/* The number of instructions by thread, the last ones that stored, whose stored bytes are known. */
enum { LODE_LINE_STORES_MAX = 6 };

typedef struct LodeLineStores LodeLineStores;

/* Bits of masks are for 1 << part_shift bytes each. NULL where the budget is spent; it is borrowed.
 */
LodeLineStores *lode_line_stores_new(unsigned part_shift, LodeCacheBudget *budget);
void lode_line_stores_free(LodeLineStores *self);

/* Another core's store of these bytes: it `takes` the line away, or stores to one that it or a
 * different one took before; where none did, nothing is noted. Where the budget is spent neither.
 */
void lode_line_stores_add(LodeLineStores *self, uint64_t line, uint64_t bytes,
	const LodeCacheStore *store, bool takes);

/* The line is back. */
void lode_line_stores_remove(LodeLineStores *self, uint64_t line);

/*
 * Finds the store that a miss of these bytes is due to. For false sharing, the store that took the
 * line away. For true sharing, among the instructions by thread that were the last to store to one
 * of these bytes, the one that stored to the line last, with its part of the bytes. False if it is
 * not known any more.
 */
bool lode_line_stores_find(const LodeLineStores *self, uint64_t line, uint64_t bytes,
	LodeMissClass miss_class, LodeCacheStore *out_store);
