/* SPDX-License-Identifier: MIT */
/* Two arrays that are walked over three times, and two blocks one after the other in one place. */
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 1 << 20, SMALL = 1 << 18, BLOCK = 1 << 15, LINE = 64, ROUNDS = 3 };

static void walk(volatile char *at, size_t size)
{
	for (size_t i = 0; i < size; i += LINE)
		at[i]++;
}

int main(int argc, char **argv)
{
	volatile char *small = malloc(SMALL); /* site: small */
	volatile char *first = malloc(BLOCK); /* site: first */

	(void)argv;
	walk(first, BLOCK);
	free((void *)first);
	volatile char *second = calloc(1, BLOCK); /* site: second */
	walk(second, BLOCK);
	walk(second, BLOCK);
	volatile char *large = malloc(LARGE); /* site: large */
	for (int round = 0; round < ROUNDS; round++) {
		walk(large, LARGE);
		walk(small, SMALL);
	}
	if (first != second)
		printf("elsewhere\n");
	free((void *)second);
	return argc > 1 && large[0] + small[0] == 0;
}
