/* SPDX-License-Identifier: MIT */
#include "forty.h"
#include <string>
#include <vector>
static std::vector<std::string> parts;
#define DRAIN(n)                                                                \
	static APART uint64_t drain_##n()                                       \
	{                                                                       \
		std::vector<std::string> queue = parts;                         \
		uint64_t sum = n;                                               \
		while (!queue.empty()) {                                        \
			sum += queue.front().size();                            \
			queue.erase(queue.begin());                             \
		}                                                               \
		return sum;                                                     \
	}
FORTY(DRAIN)
int main()
{
	for (int i = 0; i < 300; i++)
		parts.emplace_back(3 + next_random() % 9, 'x');
	uint64_t sum = 0;
	for (int round = 0; round < 300; round++) {
#define CALL(n) sum += drain_##n();
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
}
