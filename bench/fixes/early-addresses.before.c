/* SPDX-License-Identifier: MIT */
#include "forty.h"
enum { SLOTS = 1 << 23, KEYS = 4000 };
static uint64_t *table;
static uint32_t keys[KEYS + 64];
#define PROBE(n)                                                                                   \
	static APART uint64_t probe_##n(const uint32_t *key)                                       \
	{                                                                                          \
		uint64_t sum = n;                                                                  \
		for (int i = 0; i < KEYS; i++) {                                                   \
			uint64_t slot = table[key[i] * 2654435761u >> 9 ^ n];                      \
			for (uint64_t k = slot & 3; k; k--)                                        \
				sum = (sum << 5 ^ sum) + slot / (k + 1 + (slot & 1));              \
			sum += slot;                                                               \
		}                                                                                  \
		return sum;                                                                        \
	}
FORTY(PROBE)
int main(void)
{
	table = malloc(sizeof(*table) * SLOTS);
	for (uint32_t i = 0; i < SLOTS; i++)
		table[i] = next_random();
	uint64_t sum = 0;
	for (int round = 0; round < 340; round++) {
		for (int i = 0; i < KEYS + 64; i++)
			keys[i] = (uint32_t)next_random();
#define CALL(n) sum += probe_##n(keys);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
