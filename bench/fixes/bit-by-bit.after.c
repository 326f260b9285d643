/* SPDX-License-Identifier: MIT */
#include "forty.h"
static inline int bits_of(uint32_t v)
{
	v -= v >> 1 & 0x55555555;
	v = (v & 0x33333333) + (v >> 2 & 0x33333333);
	return (int)((v + (v >> 4) & 0x0f0f0f0f) * 0x01010101 >> 24);
}
#define WEIGH(n)                                                                                   \
	static APART int weigh_##n(const uint32_t *words, int size)                                \
	{                                                                                          \
		int sum = n;                                                                       \
		for (int i = 0; i < size; i++)                                                     \
			sum += bits_of(words[i] ^ (uint32_t)sum);                                  \
		return sum;                                                                        \
	}
FORTY(WEIGH)
int main(void)
{
	static uint32_t words[512];
	for (int i = 0; i < 512; i++)
		words[i] = (uint32_t)next_random();
	long sum = 0;
	for (int round = 0; round < 3000; round++) {
#define CALL(n) sum += weigh_##n(words, 512);
		FORTY(CALL)
	}
	printf("%ld\n", sum);
	return 0;
}
