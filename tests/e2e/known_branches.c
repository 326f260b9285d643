/* SPDX-License-Identifier: MIT */
/*
 * A branch goes one way nine times of ten, to a function that is called, and the other once, to one
 * that is inlined. Prints something that depends on all of it.
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned sum;

__attribute__((noinline)) void often(unsigned x)
{
	sum += x * 3;
	__asm__ volatile("" : "+r"(sum));
}

static inline __attribute__((always_inline)) void seldom(unsigned x)
{
	sum ^= x;
	__asm__ volatile("" : "+r"(sum));
}

__attribute__((noinline)) void choose(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i % 10 != 0)
			often(i);
		else
			seldom(i);
	}
}

int main(int argc, char **argv)
{
	choose(argc > 1 ? (unsigned)atoi(argv[1]) : 100000);
	printf("%u\n", sum);
	return 0;
}
