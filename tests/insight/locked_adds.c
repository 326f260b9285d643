/* SPDX-License-Identifier: MIT */
/* Planted: a locked addition in each function, whose result is needed. It waits for a line that is
 * in no near cache: of lines at hand some processors add nearly as fast as they load. Without what
 * is planted, the addition is of a line at hand and has no lock. */
#include "planted_functions.h"

#define LINE(x) ((x)*0x9e3779b97f4a7c15u >> 48 << 3)

#ifdef PLAIN
static volatile uint64_t counters[8];
#define ADD(x) (counters[LINE(x) & 7] = counters[LINE(x) & 7] + 1)
#else
static uint64_t counters[1 << 19];
#define ADD(x) __atomic_fetch_add(&counters[LINE(x)], 1, __ATOMIC_SEQ_CST)
#endif

#define WORK(n, x, sum) sum = COMBINE(n, sum, ADD(x));

DEFINE_PROGRAM(1500)
