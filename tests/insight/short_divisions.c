/* SPDX-License-Identifier: MIT */
/* Planted: a division of 32 bits in each function. */
#include "planted_functions.h"

#ifdef PLAIN
#define REMAINDER ^
#else
#define REMAINDER %
#endif

#define WORK(n, x, sum)                                                                            \
	uint32_t part = (uint32_t)(x ^ sum >> 7);                                                  \
	sum += part REMAINDER((uint32_t)(x >> 50) | 5);

DEFINE_PROGRAM(2000)
