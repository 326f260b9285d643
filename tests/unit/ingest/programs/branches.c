/* SPDX-License-Identifier: MIT */
/* Loops and choices in functions that call each other, for samples that a test makes up, and time
 * enough for samples that are taken; built without a sanitizer. */
#include <stdlib.h>

#ifdef __clang__
#define APART static __attribute__((noinline))
#else
#define APART static __attribute__((noinline, noclone))
#endif

static volatile unsigned kept;

APART unsigned wander(unsigned n)
{
	unsigned sum = kept;

	do {
		if (n & 1)
			sum = sum * 7 + kept;
		else if (n & 2)
			kept = sum;
		for (unsigned i = n & 7; i > 0; i--)
			kept += i;
	} while ((n >>= 1) != 0);
	return sum;
}

APART unsigned descend(unsigned n)
{
	if (n == 0)
		return kept;
	kept += n;
	return descend(n - 1) * 3 + kept;
}

APART unsigned drive(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += wander(i) + descend(i & 15);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20;

	for (unsigned i = 0; i < rounds; i++)
		kept += drive(1000);
	return 0;
}
