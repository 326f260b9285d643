/* SPDX-License-Identifier: MIT */
/*
 * Planted: a load that misses the cache only behind a store to a global. The same loads behind
 * another store, and behind none, hit.
 */
#include "planted_functions.h"

uint64_t table[1 << 17], log_entries[64];
uint64_t last_index;

#define WORK(n, x, sum)                                                                            \
	sum += x;                                                                                  \
	sum = MIX(n, sum);                                                                         \
	log_entries[sum & 63] = sum;                                                               \
	sum = COMBINE(n, sum, small[sum >> 56]);                                                   \
	sum = MIX(n, sum);                                                                         \
	uint64_t index = sum >> 47;                                                                \
	last_index = index;                                                                        \
	sum = COMBINE(n, sum, table[index]);

DEFINE_PROGRAM(60)
