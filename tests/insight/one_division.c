/* SPDX-License-Identifier: MIT */
/* One division in one loop of cheap instructions: where `lode annotate` shows its finding is known.
 */
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 60000000 };

static volatile uint64_t seed = 0x9e3779b97f4a7d6b;

__attribute__((noinline)) static uint64_t divide(uint64_t x, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum ^= i << 7;
		sum += i ^ 0x55;
		x = ~x / (i | 3) + 12345; /* divides */
		sum ^= sum << 3;
		sum += i * 5;
	}
	return sum + x;
}

int main(void)
{
	printf("%llu\n", (unsigned long long)divide(seed, ROUNDS));
	return 0;
}
