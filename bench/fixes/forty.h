/* SPDX-License-Identifier: MIT
 *
 * Forty functions with one habit, so that none of them is hot by itself.
 * FORTY(F) is F(10) F(11) … F(49); a function that APART marks is neither inlined nor cloned, and
 * the compiler deduces nothing about its calls.
 */
#ifndef LODE_BENCH_FIXES_FORTY_H
#define LODE_BENCH_FIXES_FORTY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEN(F, t)                                                                                  \
	F(t##0)                                                                                    \
	F(t##1) F(t##2) F(t##3) F(t##4) F(t##5) F(t##6) F(t##7) F(t##8) F(t##9)
#define FORTY(F) TEN(F, 1) TEN(F, 2) TEN(F, 3) TEN(F, 4)
#define APART __attribute__((noipa))

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static inline uint64_t next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1du) >> 16;
}

/* Work beside the habit: so many turns, of which nothing waits for the one before by more than an
 * addition. */
static inline uint64_t other_work(uint64_t x, int turns)
{
	static uint32_t table[256];
	uint64_t a = x, b = x + 1, c = x + 2, d = x + 3;

	for (int i = 0; i < turns; i++) {
		a += table[i & 255] ^ x;
		b += table[(i + 64) & 255] | x;
		c ^= table[(i + 128) & 255] + x;
		d -= table[(i + 192) & 255] & x;
	}
	return a ^ b ^ c ^ d;
}

#endif
