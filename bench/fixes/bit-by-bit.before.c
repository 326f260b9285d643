/* SPDX-License-Identifier: MIT */
#include "forty.h"
static inline int bits_of(uint32_t v)
{
	int count = 0;
	for (int i = 0; i < 32; i++)
		count += v >> i & 1;
	return count;
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
