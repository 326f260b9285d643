/* SPDX-License-Identifier: MIT */
/* All of the loop's time is the first load's, which always misses; the second never does. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1 << 24, ROUNDS = 12000000 };

static uint64_t small_table[64];

int main(void)
{
	uint64_t *large = malloc(WORDS * sizeof(*large));
	uint64_t x = 1, sum = 0;

	if (large == NULL)
		return 1;
	for (size_t i = 0; i < WORDS; i++)
		large[i] = i * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < ROUNDS; i++) {
		x = (large[x >> 40] ^ i) * UINT64_C(0x9e3779b97f4a7c15); /* waits */
		sum += small_table[i & 63] * 3;
	}
	printf("%lu\n", sum + x);
	return 0;
}
