/* SPDX-License-Identifier: MIT */
/* Planted: a byte swap and a load from where it leads, which misses the cache. */
#include "planted_functions.h"

uint64_t table[1 << 17];

#define WORK(n, x, sum)                                                                            \
	sum += x;                                                                                  \
	sum = MIX(n, sum);                                                                         \
	uint64_t index = __builtin_bswap64(sum & 0xffff010000000000u);                             \
	sum = COMBINE(n, sum, table[index]);

DEFINE_PROGRAM(60)
