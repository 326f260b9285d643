/* SPDX-License-Identifier: MIT */
/* Planted: a locked addition in each function. */
#include "planted_functions.h"

static uint64_t counter;

#define WORK(n, x, sum)                                                                            \
	__atomic_fetch_add(&counter, 1 + (x & 1), __ATOMIC_SEQ_CST);                               \
	sum = COMBINE(n, sum, MIX(n, x));

DEFINE_PROGRAM(1500)
