/* SPDX-License-Identifier: MIT */
/* One division, in one of several loops: where `lode annotate` shows its finding is known. */
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 20000000 };

static volatile uint64_t seed = 0x9e3779b97f4a7d6b;

#define DEFINE_CHEAP(name, a, b)                                                                   \
	__attribute__((noinline)) static uint64_t name(uint64_t x, uint64_t n)                     \
	{                                                                                          \
		uint64_t sum = 0;                                                                  \
                                                                                                   \
		for (uint64_t i = 0; i < n; i++) {                                                 \
			sum += (i << a) ^ (x >> b);                                                \
			if ((i & (a + b)) == 0)                                                    \
				sum ^= i * b;                                                      \
			x += sum >> a;                                                             \
			if ((i & 7) == a)                                                          \
				x ^= sum << b;                                                     \
		}                                                                                  \
		return sum;                                                                        \
	}

DEFINE_CHEAP(first, 3, 5)
DEFINE_CHEAP(second, 6, 2)
DEFINE_CHEAP(third, 1, 9)
DEFINE_CHEAP(fourth, 4, 4)

__attribute__((noinline)) static uint64_t divide(uint64_t x, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum ^= i << 7;
		x = ~x / (i | 3) + 12345; /* divides */
		sum += i * 5;
	}
	return sum + x;
}

int main(void)
{
	uint64_t sum = seed;

	sum += first(sum, ROUNDS) + second(sum, ROUNDS);
	sum += third(sum, ROUNDS) + fourth(sum, ROUNDS);
	sum += divide(sum, 2 * ROUNDS);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
