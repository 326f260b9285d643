/* SPDX-License-Identifier: MIT */
#include "forty.h"
static inline void sort(uint32_t *v, int count)
{
	for (int i = 1; i < count; i++) {
		uint32_t x = v[i];
		int k = i;
		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
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
