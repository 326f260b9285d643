/* SPDX-License-Identifier: MIT */
/* Sets of up to 64 things as the bits of a number. */
#pragma once

#include <stdint.h>

/* The bit of number `n`, 0 … 63; a constant where `n` is one. Of 32 bits it is 1u << n. */
#define LODE_BIT(n) (UINT64_C(1) << (n))

/* The lowest `n` bits; all where n ≥ 64. */
static inline uint64_t lode_low_bits(unsigned n)
{
	return n < 64 ? LODE_BIT(n) - 1 : UINT64_MAX;
}
