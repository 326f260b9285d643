/* SPDX-License-Identifier: MIT */
#include "forty.h"
/* A search whose way is the same most times: a branch is foretold, a conditional move waits for the
 * load. */
#define SEARCH(n)                                                                                  \
	static APART uint32_t search_##n(const uint32_t *v, uint32_t size, uint32_t key)           \
	{                                                                                          \
		const uint32_t *base = v;                                                          \
		while (size > 1) {                                                                 \
			uint32_t half = size / 2;                                                  \
			const uint32_t *middle = base + half;                                      \
			if (*middle <= (key ^ n)) {                                                \
				__asm__ volatile("");                                              \
				base = middle;                                                     \
			}                                                                          \
			size -= half;                                                              \
		}                                                                                  \
		return *base;                                                                      \
	}
FORTY(SEARCH)
int main(void)
{
	static uint32_t v[4096];
	uint64_t sum = 0;
	for (uint32_t i = 0; i < 4096; i++)
		v[i] = i * 1000;
	for (uint32_t round = 0; round < 600000; round++) {
		uint32_t key = (uint32_t)(sum & 255) + (round & 1023 ? 2345678u : round);
#define CALL(n) sum += search_##n(v, 4096, key + (uint32_t)(sum & 63));
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
