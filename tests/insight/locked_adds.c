/* SPDX-License-Identifier: MIT */
/* Planted: a locked addition in each function, whose result is needed. */
#include "planted_functions.h"

#ifdef PLAIN
static volatile uint64_t counter;
#define ADD(x) (counter = counter + (x))
#else
static uint64_t counter;
#define ADD(x) __atomic_fetch_add(&counter, x, __ATOMIC_SEQ_CST)
#endif

#define WORK(n, x, sum) sum = COMBINE(n, sum, ADD(1 + (x & 1)));

DEFINE_PROGRAM(1500)
