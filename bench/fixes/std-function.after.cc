/* SPDX-License-Identifier: MIT */
#include "forty.h"
#include <functional>
#include <vector>
template <typename Use> static inline uint64_t each(const std::vector<uint32_t> &v, Use use)
{
	for (uint32_t x : v)
		use(x);
	return v.size();
}
#define SUM(n)                                                                  \
	static APART uint64_t sum_##n(const std::vector<uint32_t> &v)           \
	{                                                                       \
		uint64_t sum = 0;                                               \
		each(v, [&sum](uint32_t x) { sum = (sum ^ x) + n; });           \
		return sum;                                                     \
	}
FORTY(SUM)
int main()
{
	std::vector<uint32_t> v(1000);
	for (auto &x : v)
		x = (uint32_t)next_random();
	uint64_t sum = 0;
	for (int round = 0; round < 12000; round++) {
#define CALL(n) sum += sum_##n(v);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
}
