/* SPDX-License-Identifier: MIT */
/* Planted: in each function a call through a pointer that goes to one of eight functions at random.
 */
#include "planted_functions.h"

#ifdef PLAIN
static volatile uint64_t mask = 0;
#else
static volatile uint64_t mask = 7;
#endif

#define OPERATION(k)                                                                               \
	__attribute__((noinline)) static uint64_t operation_##k(uint64_t x)                        \
	{                                                                                          \
		return MIX(k, x) ^ x >> k;                                                         \
	}
OPERATION(1)
OPERATION(2)
OPERATION(3)
OPERATION(4)
OPERATION(5)
OPERATION(6)
OPERATION(7)
OPERATION(8)

static uint64_t (*volatile operations[8])(uint64_t) = {operation_1, operation_2, operation_3,
	operation_4, operation_5, operation_6, operation_7, operation_8};

#define WORK(n, x, sum) sum ^= operations[x >> 50 & mask](x);

DEFINE_PROGRAM(1000)
