/* SPDX-License-Identifier: MIT */
/* Planted: a branch on what a table holds, which no one can predict. */
#include "planted_functions.h"

#define WORK(n, x, sum)                                                                            \
	sum += x;                                                                                  \
	sum = MIX(n, sum);                                                                         \
	if (small[sum >> 56] < 0x80000000000u)                                                     \
		sum = MIX(n, sum);                                                                 \
	sum ^= n;

DEFINE_PROGRAM(60)
