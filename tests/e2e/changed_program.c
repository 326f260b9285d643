/* SPDX-License-Identifier: MIT */
/*
 * A program that is built several times, each time with one known change:
 *
 *   -DTIMES=2           the loop in often() runs twice as often
 *   -DDIVIDE            dearly() divides where it shifts else
 *   -DRENAMED           under_one_name() is called under_another_name()
 *   -DREMOVED           left_out() is not there
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef TIMES
#define TIMES 1
#endif
#ifdef RENAMED
#define under_one_name under_another_name
#endif

static volatile uint64_t divisor = 8;
static uint32_t table[1024];

/* Functions of their own, not cloned for their arguments. */
#define APART __attribute__((noinline, noclone, noipa))

APART static uint64_t often(uint64_t x, unsigned long n)
{
	for (unsigned long i = 0; i < TIMES * n; i++)
		x = (x << 13 | x >> 51) + (x ^ i);
	return x;
}

APART static uint64_t dearly(uint64_t x, unsigned long n)
{
#ifdef DIVIDE
	uint64_t by = divisor;
#endif
	for (unsigned long i = 0; i < n; i++) {
#ifdef DIVIDE
		x = (x ^ 0xfedcba9876543210) / by + i;
#else
		x = (x ^ 0xfedcba9876543210) >> 3 ^ i;
#endif
	}
	return x;
}

APART static uint64_t under_one_name(uint64_t x, unsigned long n)
{
	uint64_t sum = 0;

	for (unsigned long i = 0; i < n; i++) {
		x ^= x << 7;
		x ^= x >> 9;
		sum += table[x & 1023];
		table[i & 1023] = (uint32_t)(sum >> 3) | 1;
	}
	return sum + x;
}

#ifndef REMOVED
APART static uint64_t left_out(uint64_t x, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		x = x * 6364136223846793005u + (x >> 33);
	return x;
}
#endif

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	uint64_t x = 88172645463325252u;

	for (unsigned long round = 0; round < 100; round++) {
		x ^= often(x, n);
		x ^= dearly(x, n);
		x ^= under_one_name(x, n);
#ifndef REMOVED
		x ^= left_out(x, n);
#endif
	}
	printf("%lx\n", (unsigned long)x);
	return 0;
}
