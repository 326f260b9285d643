/* SPDX-License-Identifier: MIT
 *
 * After here-Leslie-Lau/zlist issue #94 and elalish/manifold pull request #494:
 * keys are sorted, and structures stay where they are.
 */
#include "forty.h"
#include <algorithm>
#include <vector>
struct item {
	uint32_t key;
	char rest[252];
};
struct entry {
	uint32_t key, at;
};
static APART uint64_t order(const std::vector<item> &items)
{
	uint64_t sum = 0;
	std::vector<entry> v;
	for (uint32_t i = 0; i < items.size(); i++)
		v.push_back({items[i].key, i});
	std::sort(v.begin(), v.end(), [](const entry &a, const entry &b) { return a.key < b.key; });
	for (auto &e : v)
		sum += sum * 3 + items[e.at].rest[7];
	return other_work(sum, 200000);
}
int main()
{
	std::vector<item> items(1000);
	for (auto &i : items)
		i.key = next_random(), i.rest[7] = next_random();
	uint64_t sum = 0;
	for (int r = 0; r < 12000; r++) {
		sum += order(items);
		items[r % 1000].key += r;
	}
	printf("%lu\n", sum);
}
