/* SPDX-License-Identifier: MIT */
/*
 * Two hundred functions, work_100 … work_299, so that a cost planted in each shows up in none. A
 * program defines WORK(n, x, sum), which works on `sum` with `x` at hand; run_N calls work_N forty
 * times, so that neither main nor the instruction cache dominates. Straight-line code: what is
 * planted is told apart by its instructions alone, not by a loop around it.
 *
 * With PLAIN a program does the same without what is planted, so that the difference of their times
 * is what the planted instructions cost. With ALONE a function does nothing but WORK, each of which
 * needs the result of the one before, so that nothing else is done while it waits. ROUNDS is how
 * often main goes through all functions.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define TEN(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define HUNDRED(F, n)                                                                              \
	TEN(F, n##0)                                                                               \
	TEN(F, n##1)                                                                               \
	TEN(F, n##2)                                                                               \
	TEN(F, n##3) TEN(F, n##4) TEN(F, n##5) TEN(F, n##6) TEN(F, n##7) TEN(F, n##8) TEN(F, n##9)
#define TWO_HUNDRED(F) HUNDRED(F, 1) HUNDRED(F, 2)

/* What is done with a value differs from function to function. */
#define COMBINE(n, sum, value)                                                                     \
	((n) % 5 == 0          ? (sum) + (value)                                                   \
		: (n) % 5 == 1 ? (sum) ^ (value)                                                   \
		: (n) % 5 == 2 ? (sum) - (value)                                                   \
		: (n) % 5 == 3 ? ((sum) | (value))                                                 \
			       : ((sum) & (value)))

/* Distinct pseudo-random numbers for every function. */
#define MIX(n, x) ((x) * (0x9e3779b97f4a7c15u + 2 * (n)))

uint64_t small[256]; /* stays in the first-level cache */

#ifdef ALONE
#define DEFINE_WORK(n)                                                                             \
	__attribute__((noinline)) static uint64_t work_##n(uint64_t x)                             \
	{                                                                                          \
		uint64_t sum = x;                                                                  \
		WORK(n, x, sum)                                                                    \
		return sum;                                                                        \
	}
#else
#define DEFINE_WORK(n)                                                                             \
	__attribute__((noinline)) static uint64_t work_##n(uint64_t x)                             \
	{                                                                                          \
		uint64_t sum = small[x & 255] + n;                                                 \
		sum ^= small[(sum >> 3) & 255];                                                    \
		sum += x >> 5;                                                                     \
		sum ^= small[(sum >> 9) & 255];                                                    \
		WORK(n, x, sum)                                                                    \
		sum += small[(sum ^ n) & 255];                                                     \
		return sum ^ sum << 7;                                                             \
	}
#endif

#define DEFINE(n)                                                                                  \
	DEFINE_WORK(n)                                                                             \
	__attribute__((noinline)) static uint64_t run_##n(uint64_t x)                              \
	{                                                                                          \
		for (int i = 0; i < 40; i++)                                                       \
			x = x * 6364136223846793005u + work_##n(x >> 3);                           \
		return x;                                                                          \
	}

#ifdef ROUNDS
#define ROUNDS_OF(rounds) ROUNDS
#else
#define ROUNDS_OF(rounds) (rounds)
#endif

#define CALL(n) sum += run_##n(sum + i);

#define DEFINE_PROGRAM(rounds)                                                                     \
	TWO_HUNDRED(DEFINE)                                                                        \
	int main(void)                                                                             \
	{                                                                                          \
		uint64_t sum = 1;                                                                  \
		for (uint64_t i = 0; i < 256; i++)                                                 \
			small[i] = MIX(7, i) >> 20;                                                \
		for (uint64_t i = 0; i < ROUNDS_OF(rounds); i++) {                                 \
			TWO_HUNDRED(CALL)                                                          \
		}                                                                                  \
		printf("%u\n", (unsigned)(sum >> 32));                                             \
		return 0;                                                                          \
	}
