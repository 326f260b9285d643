/* SPDX-License-Identifier: MIT */
/* Planted: an exchange of a register with memory in each function. */
#include "planted_functions.h"

static volatile uint64_t cell;

static inline uint64_t exchange(uint64_t value)
{
#ifdef PLAIN
	uint64_t old = cell;
	cell = value;
	return old;
#else
	return __atomic_exchange_n(&cell, value, __ATOMIC_SEQ_CST);
#endif
}

#define WORK(n, x, sum) sum = COMBINE(n, sum, exchange(x + n));

DEFINE_PROGRAM(1500)
