/* SPDX-License-Identifier: MIT
 *
 * After librsync/librsync pull request #95: keys lie in the buckets.
 */
#include "forty.h"
enum { BITS = 21, ITEMS = 1500000 };
static struct {
	uint32_t key, value;
} buckets[2 << BITS];
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
	for (uint32_t at = hash(key) >> (31 - BITS); buckets[at & ((2 << BITS) - 1)].key; at++)
		if (buckets[at & ((2 << BITS) - 1)].key == key)
			return buckets[at & ((2 << BITS) - 1)].value;
	return 0;
}
int main(void)
{
	static uint32_t made[ITEMS + 1];
	for (uint32_t i = 1; i <= ITEMS; i++) {
		uint32_t key = made[i] = key_of(i);
		uint32_t at = hash(key) >> (31 - BITS);
		while (buckets[at & ((2 << BITS) - 1)].key)
			at++;
		buckets[at & ((2 << BITS) - 1)].key = key,
					    buckets[at & ((2 << BITS) - 1)].value = i;
	}
	uint64_t sum = 0;
	for (int i = 0; i < 8000000; i++) {
		sum += look_up(made[1 + (next_random() >> 5) % ITEMS]);
		sum += other_work(sum, 60);
	}
	printf("%lu\n", sum);
}
