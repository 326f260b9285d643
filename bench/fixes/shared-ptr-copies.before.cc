/* SPDX-License-Identifier: MIT
 *
 * After leapmotion/autowiring pull request #619; Kitware/kwiver pull request #1320.
 */
#include "forty.h"
#include <memory>
#include <thread>
#include <vector>
struct node { uint64_t value; };
#define TAKE(n)                                                                 \
	static APART uint64_t take_##n(std::shared_ptr<node> p, uint64_t sum)   \
	{                                                                       \
		return sum * 31 + (p->value ^ n);                               \
	}
FORTY(TAKE)
int main()
{
	std::thread([] {}).join();
	std::vector<std::shared_ptr<node>> nodes;
	for (int i = 0; i < 64; i++)
		nodes.push_back(std::make_shared<node>(node{next_random()}));
	uint64_t sum = 0;
	for (int round = 0; round < 2500000; round++) {
		const auto &p = nodes[round & 63];
#define CALL(n) sum = take_##n(p, sum);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)sum);
}
