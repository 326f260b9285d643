/* SPDX-License-Identifier: MIT */
/* What programs have in common whose functions are planted with different costs: cheap work around
 * them, and calls through a pointer that goes to one of eight functions at random. */
#pragma once

#include <stdint.h>

static inline uint64_t stir(uint64_t x, uint64_t n)
{
	x ^= x >> 31;
	x *= 0xd6e8feb86659fd93u + 2 * n;
	return x ^ x >> 29;
}

#define EIGHT(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)

#define OPERATION(k)                                                                               \
	__attribute__((noinline)) static uint64_t operation_##k(uint64_t x)                        \
	{                                                                                          \
		return (x ^ x >> (k + 20)) * (0xaf251af3b0f025b5u + 2 * k);                        \
	}
EIGHT(OPERATION, 1)
static uint64_t (*volatile operations[8])(uint64_t) = {operation_10, operation_11, operation_12,
	operation_13, operation_14, operation_15, operation_16, operation_17};

#define DISPATCH(n)                                                                                \
	__attribute__((noinline)) static uint64_t apply_##n(uint64_t x)                            \
	{                                                                                          \
		x = stir(x, n);                                                                    \
		x ^= operations[x >> 61](x);                                                       \
		return stir(x, 11 * n);                                                            \
	}
