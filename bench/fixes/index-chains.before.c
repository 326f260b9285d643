/* SPDX-License-Identifier: MIT
 *
 * After librsync/librsync pull request #95: keys lie in the buckets.
 */
#include "forty.h"
enum { BITS = 21, ITEMS = 1500000 };
static uint32_t heads[1 << BITS], next[ITEMS + 1], keys[ITEMS + 1], values[ITEMS + 1];
static uint32_t hash(uint32_t key)
{
	return key * 2654435761u;
}
/* Different for each i. */
static uint32_t key_of(uint32_t i)
{
	i *= 0x85ebca6bu;
	i ^= i >> 13;
	return i * 0xc2b2ae35u;
}
APART uint32_t look_up(uint32_t key)
{
	for (uint32_t i = heads[hash(key) >> (32 - BITS)]; i; i = next[i])
		if (keys[i] == key)
			return values[i];
	return 0;
}
int main(void)
{
	static uint32_t made[ITEMS + 1];
	for (uint32_t i = 1; i <= ITEMS; i++) {
		uint32_t key = made[i] = keys[i] = key_of(i), h = hash(key) >> (32 - BITS);
		next[i] = heads[h], heads[h] = i, values[i] = i;
	}
	uint64_t sum = 0;
	for (int i = 0; i < 8000000; i++) {
		sum += look_up(made[1 + (next_random() >> 5) % ITEMS]);
		sum += other_work(sum, 60);
	}
	printf("%lu\n", sum);
}
