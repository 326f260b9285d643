/* SPDX-License-Identifier: MIT */
/* More live values than registers, few, and an array in the frame: spills ROUNDS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t data[1024];

__attribute__((noinline)) uint64_t many(const uint64_t *p, long n)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11,
		 l = 12, m = 13, o = 14, q = 15, r = 16, s = 17, t = 18;

	for (long x = 0; x < n; x++) {
		uint64_t v = p[x & 1023];
		a += v * b, b ^= a >> 3, c += b * d, d ^= c >> 5, e += d * f, f ^= e >> 7;
		g += f * h, h ^= g >> 9, i += h * j, j ^= i >> 11, k += j * l, l ^= k >> 13;
		m += l * o, o ^= m >> 15, q += o * r, r ^= q >> 17, s += r * t, t ^= s >> 19;
		a ^= t;
	}
	return a + b + c + d + e + f + g + h + i + j + k + l + m + o + q + r + s + t;
}

__attribute__((noinline)) uint64_t few(const uint64_t *p, long n)
{
	uint64_t a = 1, b = 2, c = 3;

	for (long x = 0; x < n; x++) {
		a += p[x & 1023] * b;
		b ^= a >> 3;
		c += b * a;
	}
	return a + b + c;
}

__attribute__((noinline)) uint64_t array(const uint64_t *p, long n)
{
	uint64_t t[8] = {0};

	for (long x = 0; x < n; x++)
		t[p[x & 1023] & 7] += (uint64_t)x;
	return t[0] + t[3] + t[7];
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	for (unsigned i = 0; i < 1024; i++)
		data[i] = i * UINT64_C(0x9E3779B97F4A7C15);
	printf("%lu\n", (unsigned long)(many(data, n) + few(data, 4 * n) + array(data, 4 * n)));
	return 0;
}
