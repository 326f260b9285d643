/* SPDX-License-Identifier: MIT */
#include "forty.h"
static APART int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}
static void sort(uint32_t *v, int count)
{
	qsort(v, (size_t)count, sizeof(*v), compare);
}
#define MEDIAN(n)                                                                                  \
	static APART uint32_t median_##n(const uint32_t *from)                                     \
	{                                                                                          \
		uint32_t v[15];                                                                    \
		for (int i = 0; i < 15; i++)                                                       \
			v[i] = from[i] ^ n;                                                        \
		sort(v, 15);                                                                       \
		return v[7];                                                                       \
	}
FORTY(MEDIAN)
static uint32_t values[4096 + 16];
int main(void)
{
	for (int i = 0; i < 4096 + 16; i++)
		values[i] = (uint32_t)(i * 64 + next_random() % 256);
	uint64_t sum = 0;
	for (int round = 0; round < 180000; round++) {
		const uint32_t *from = values + (round * 13 & 4095);
#define CALL(n) sum += median_##n(from);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
