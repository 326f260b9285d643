/* SPDX-License-Identifier: MIT
 *
 * After facebook/folly's ProducerConsumerQueue and rigtorp/SPSCQueue: indices are published with
 * release in place of sequentially consistent stores.
 */
#include "forty.h"
#include <atomic>
struct Queue {
	static constexpr uint32_t size = 1024;
	std::atomic<uint32_t> head{0}, tail{0};
	uint64_t item[size];
};
static Queue queue;
static APART bool push(uint64_t v)
{
	uint32_t h = queue.head, next = (h + 1) % Queue::size;
	if (next == queue.tail)
		return false;
	queue.item[h] = v;
	queue.head = next;
	return true;
}
static APART bool pop(uint64_t *out)
{
	uint32_t t = queue.tail;
	if (t == queue.head)
		return false;
	*out = queue.item[t];
	queue.tail = (t + 1) % Queue::size;
	return true;
}
int main()
{
	uint64_t sum = 0, v;
	for (int round = 0; round < 3000000; round++) {
		uint64_t x = next_random();
		for (int i = 0; i < 40; i++)
			push(x += i);
		while (pop(&v))
			sum = (sum ^ v) * 3;
	}
	printf("%llu\n", (unsigned long long)sum);
}
