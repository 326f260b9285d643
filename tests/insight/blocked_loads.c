/* SPDX-License-Identifier: MIT */
/* Planted: two narrow stores and a wide load of both, which the store buffer cannot forward: the
 * load waits until the stores are in the cache. */
#include "planted_functions.h"

static volatile union {
	uint32_t half[2];
	uint64_t whole;
} cell;

#ifdef PLAIN
#define LOADED(x) (x)
#else
#define LOADED(x) cell.whole
#endif

#define WORK(n, x, sum)                                                                            \
	cell.half[0] = (uint32_t)sum;                                                              \
	cell.half[1] = (uint32_t)(x);                                                              \
	sum = COMBINE(n, sum, LOADED(x));

DEFINE_PROGRAM(2000)
