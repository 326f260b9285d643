// SPDX-License-Identifier: MIT
//
// As handed_over.c, in C++: vectors that the first thread fills, and threads of std::thread.
//
//   handed_over_vectors MILLISECONDS
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <vector>

namespace
{
constexpr unsigned threads = 4, blocks = 2, words = 1 << 17;
using Clock = std::chrono::steady_clock;

struct Work {
	std::vector<uint64_t> *block;
	unsigned number;
	cpu_set_t processors;
	uint64_t sum;
};

void run(Work &work, Clock::time_point end)
{
	uint64_t sum = 0, *place = work.block->data();

	sched_getaffinity(0, sizeof(work.processors), &work.processors);
	do
		for (unsigned i = 0; i < words; i++) {
			uint64_t *word = &place[(i * 5 + work.number) % words];
			uint64_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
			__atomic_store_n(word, before + i, __ATOMIC_RELAXED);
			sum += before;
		}
	while (Clock::now() < end);
	work.sum = sum;
}

void print(const Work &work, unsigned block)
{
	std::printf("thread %u %u", work.number, block);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &work.processors))
			std::printf(" %u", i);
	std::printf("\n");
}
}

int main(int argc, char **argv)
{
	std::vector<std::vector<uint64_t>> data(blocks, std::vector<uint64_t>(words, 1));
	auto end = Clock::now() + std::chrono::milliseconds(argc > 1 ? std::atoi(argv[1]) : 100);
	std::vector<std::thread> running;
	std::vector<Work> works(threads);

	for (unsigned i = 0; i < threads; i++) {
		works[i].block = &data[i % blocks];
		works[i].number = i + 1;
		running.emplace_back([&works, i, end] { run(works[i], end); });
	}
	for (auto &thread : running)
		thread.join();
	for (unsigned i = 0; i < blocks; i++)
		std::printf("block %u %p %p\n", i, static_cast<void *>(data[i].data()),
			static_cast<void *>(data[i].data() + words));
	for (unsigned i = 0; i < threads; i++)
		print(works[i], i % blocks);
	return 0;
}
