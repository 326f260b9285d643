/* SPDX-License-Identifier: MIT */
/*
 * Three kinds of work, each as often as it is told:
 *
 *   known_work SORTS PRODUCTS HASHES
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 400 };

__attribute__((noinline)) static long sort(unsigned seed)
{
	static int values[N];

	for (int i = 0; i < N; i++)
		values[i] = (int)((seed = seed * 1103515245 + 12345) >> 16);
	for (int i = 1; i < N; i++) {
		int value = values[i], at = i;
		while (at > 0 && values[at - 1] > value) {
			values[at] = values[at - 1];
			at--;
		}
		values[at] = value;
	}
	return values[N / 2];
}

__attribute__((noinline)) static double multiply(unsigned seed)
{
	enum { SIZE = 32 };
	static double a[SIZE][SIZE], b[SIZE][SIZE];
	double trace = 0;

	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			a[i][j] = b[j][i] = (double)(seed + (unsigned)(i * j)) * 0.5;
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			double sum = 0;
			for (int k = 0; k < SIZE; k++)
				sum += a[i][k] * b[k][j];
			trace += i == j ? sum : 0;
		}
	return trace;
}

__attribute__((noinline)) static uint32_t hash(uint32_t state)
{
	uint32_t a = state, b = 0x6a09e667, c = 0xbb67ae85;

	for (int i = 0; i < 5000; i++) {
		uint32_t turned = (a >> 6 | a << 26) ^ (a >> 11 | a << 21) ^ (a >> 25 | a << 7);
		uint32_t chosen = (a & b) ^ (~a & c);
		c = b;
		b = (a << 3 | a >> 29) ^ chosen;
		a = turned + chosen + (uint32_t)i;
	}
	return a ^ b ^ c;
}

int main(int argc, char **argv)
{
	long times[3] = {0};
	double sum = 0;

	for (int i = 1; i < argc && i <= 3; i++)
		times[i - 1] = atol(argv[i]);
	for (long i = 0; i < times[0]; i++)
		sum += (double)sort((unsigned)i);
	for (long i = 0; i < times[1]; i++)
		sum += multiply((unsigned)i);
	for (long i = 0; i < times[2]; i++)
		sum += hash((uint32_t)i);
	printf("%g\n", sum);
	return 0;
}
