/* SPDX-License-Identifier: MIT */
/* Planted: a square root in each function. */
#include "planted_functions.h"

static inline double root_of(double value)
{
#ifdef PLAIN
	return value;
#else
	double root;
	__asm__("sqrtsd %1, %0" : "=x"(root) : "x"(value));
	return root;
#endif
}

#define WORK(n, x, sum) sum += (uint64_t)(int64_t)root_of((double)(int64_t)(x >> 1));

DEFINE_PROGRAM(2000)
