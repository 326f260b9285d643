/* SPDX-License-Identifier: MIT */
#include "forty.h"
#include <vector>
#define PICK(n)                                                                 \
	static APART uint64_t pick_##n(std::vector<uint64_t> v, size_t at)      \
	{                                                                       \
		uint64_t sum = n;                                               \
		for (size_t i = at; i < v.size(); i += 7)                       \
			sum = sum * 31 + v[i];                                  \
		return sum;                                                     \
	}
FORTY(PICK)
int main()
{
	std::vector<uint64_t> v(400);
	for (auto &x : v)
		x = next_random();
	uint64_t sum = 0;
	for (int round = 0; round < 375000; round++) {
#define CALL(n) sum += pick_##n(v, n);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
}
