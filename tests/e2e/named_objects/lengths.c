/* SPDX-License-Identifier: MIT */
/* Two arrays of variable length, of which the first gets 70 % of the accesses by chance. */
#include <stdint.h>
#include <string.h>

struct cell {
	uint64_t key;
	uint32_t value, rest;
};

static volatile uint32_t sink;

__attribute__((noinline)) static void fill(void *at, size_t n)
{
	memset(at, 1, n);
	sink += *(const uint8_t *)at;
}

__attribute__((noinline)) static void walk(size_t n, size_t m, unsigned rounds)
{
	uint32_t first[n], sum = 0;
	struct cell second[m];
	uint64_t x = 88172645463325252;

	fill(first, sizeof(first));
	fill(second, sizeof(second));
	for (unsigned i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x % 1000 < 700)
			sum += first[(x / 1000 + sum) % n];
		else
			sum += second[(x / 1000 + sum) % m].rest;
	}
	sink += sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 4; i++)
		walk((size_t)argc << 19, (size_t)argc << 17, 2000000);
	return 0;
}
