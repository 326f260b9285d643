/* SPDX-License-Identifier: MIT */
#include "forty.h"
static uint32_t kept[4100];
#define FILTER(n)                                                                                  \
	static APART uint32_t filter_##n(const uint32_t *v, int size, uint32_t limit)              \
	{                                                                                          \
		uint32_t count = 0;                                                                \
		for (int i = 0; i < size; i++) {                                                   \
			kept[count] = v[i] + n;                                                    \
			count += v[i] < limit;                                                     \
		}                                                                                  \
		return count + kept[count / 2];                                                    \
	}
FORTY(FILTER)
static uint32_t values[40][4096];
int main(void)
{
	for (int k = 0; k < 40; k++)
		for (int i = 0; i < 4096; i++)
			values[k][i] = (uint32_t)next_random();
	uint64_t sum = 0;
	for (int round = 0; round < 2100; round++) {
#define CALL(n) sum += filter_##n(values[n - 10], 4096, 0x80000000u + (uint32_t)round);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
