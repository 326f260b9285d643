/* SPDX-License-Identifier: MIT */
/* Planted: in each function a branch that goes either way at random. */
#include "planted_functions.h"

#ifdef PLAIN
static volatile uint64_t mask = 0;
#else
static volatile uint64_t mask = 1;
#endif
uint64_t taken;

#define WORK(n, x, sum)                                                                            \
	uint64_t random = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;                                     \
	if (random >> 40 & mask) {                                                                 \
		sum ^= random;                                                                     \
		taken += n;                                                                        \
	}

DEFINE_PROGRAM(1000)
