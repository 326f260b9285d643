/* SPDX-License-Identifier: MIT
 *
 * After RetroAchievements/RAIntegration pull request #1264.
 */
#include "forty.h"
#include <algorithm>
#include <map>
#include <vector>
using Table = std::vector<std::pair<uint32_t, uint32_t>>;
#define FIND(n)                                                                 \
	static APART uint64_t find_##n(const Table &t, const std::vector<uint32_t> &keys) \
	{                                                                       \
		uint64_t sum = n;                                               \
		for (uint32_t key : keys) {                                     \
			auto at = std::lower_bound(t.begin(), t.end(), std::pair<uint32_t, uint32_t>(key ^ n, 0)); \
			sum += at == t.end() ? 0 : at->second;                  \
		}                                                               \
		return sum;                                                     \
	}
FORTY(FIND)
int main()
{
	Table t;
	std::vector<uint32_t> keys(60);
	for (uint32_t i = 0; i < 30000; i++)
		t.emplace_back((uint32_t)(next_random() >> 4), i);
	std::sort(t.begin(), t.end());
	uint64_t sum = 0;
	for (int round = 0; round < 4800; round++) {
		for (auto &key : keys)
			key = (uint32_t)next_random();
#define CALL(n) sum += find_##n(t, keys);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
}
