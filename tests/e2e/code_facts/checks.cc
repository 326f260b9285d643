// SPDX-License-Identifier: MIT
// The same loops with checks and without: checks ROUNDS
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef std::vector<unsigned> Numbers;
typedef std::vector<size_t> Places;

extern "C" {
__attribute__((noinline)) unsigned with_at(const Numbers &a, const Places &b)
{
	unsigned s = 0;
	for (size_t i = 0; i < b.size(); i++)
		s += a.at(b[i]);
	return s;
}

__attribute__((noinline)) unsigned without_at(const Numbers &a, const Places &b)
{
	unsigned s = 0;
	for (size_t i = 0; i < b.size(); i++)
		s += a[b[i]];
	return s;
}

/* without the check in a build with -DNDEBUG */
__attribute__((noinline)) unsigned with_assert(const Numbers &a)
{
	unsigned s = 0;
	for (size_t i = 0; i < a.size(); i++) {
		assert(a[i] != 0);
		s += 1000000 / a[i];
	}
	return s;
}

__attribute__((noinline)) unsigned with_throw(const Numbers &a)
{
	unsigned s = 0;
	for (size_t i = 0; i < a.size(); i++) {
		if (a[i] == 0)
			throw 3;
		s += a[i] * 3;
	}
	return s;
}

/* a branch that is no check */
__attribute__((noinline)) unsigned with_branch(const Numbers &a)
{
	unsigned s = 0;
	for (size_t i = 0; i < a.size(); i++) {
		if ((a[i] & 7) == 0)
			s = s * 3 + abs((int)s);
		s += a[i];
	}
	return s;
}

/* without the check in a build with -fno-stack-protector */
__attribute__((noinline)) unsigned with_array(const char *text)
{
	char copy[64];
	unsigned s = 0;
	int n = 0;
	for (; text[n] != 0 && n < 63; n++)
		copy[n] = text[n];
	for (int k = 0; k < n; k++)
		s += (unsigned)copy[n - k - 1] * (unsigned)k;
	return s;
}

__attribute__((noinline)) unsigned small(unsigned x)
{
	return x ^ x >> 3;
}

__attribute__((noinline)) unsigned with_calls(const Numbers &a)
{
	unsigned s = 0;
	for (size_t i = 0; i < a.size(); i++)
		s += small(a[i]);
	return s;
}
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 1;
	Numbers a(4096);
	Places b(4096);
	unsigned s = 0;

	for (unsigned i = 0; i < 4096; i++) {
		a[i] = i * 2654435761u | 1;
		b[i] = i * 77 % 4096;
	}
	for (int i = 0; i < n; i++) {
		s += with_at(a, b) + without_at(a, b) + with_assert(a) + with_throw(a) +
		     with_branch(a) + with_calls(a);
		for (int k = 0; k < 200; k++)
			s += with_array("some letters, more than a few" + (s + k) % 8);
	}
	printf("%u\n", s);
}
