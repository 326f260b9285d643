// SPDX-License-Identifier: MIT
// Allocates what known_cpp.expected says; the lines count.
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static void *volatile sink;

template <class T> static T *keep(T *block)
{
	sink = block;
	return block;
}

struct alignas(128) Wide {
	char bytes[256];
};

__attribute__((noinline)) static void fill(std::vector<long> &numbers)
{
	numbers.reserve(100);
	keep(numbers.data());
}

int main()
{
	delete keep(new long(5));
	delete[] keep(new char[33]);
	delete keep(new Wide);
	delete keep(new (std::nothrow) short);
	std::vector<long> numbers;
	fill(numbers);
	try {
		throw std::runtime_error("expected");
	} catch (const std::exception &caught) {
		std::puts(caught.what());
	}
	try {
		keep(new char[(std::size_t(1) << 62) + numbers.size()]);
	} catch (const std::bad_alloc &) {
		std::puts("no memory");
	}
	std::thread([] { keep(new int[9]); }).join();
}
