/* SPDX-License-Identifier: MIT */
/*
 * Look-ups in an order that is read from an array, so that no register tells where the next one
 * goes: half of them in a global array, half in an allocated block, both of 32 MiB. For 0.8 s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1 << 20, ELEMENTS = 1 << 22 };

static unsigned order[N];
static long table[ELEMENTS];

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

__attribute__((noinline)) static long look_up(void)
{
	long sum = 0;

	for (int i = 0; i < N; i++) {
		long value = table[order[i]];
		sum += value;
		sum ^= value & 1;
	}
	return sum;
}

__attribute__((noinline)) static long look_up_in(const long *block)
{
	long sum = 0;

	for (int i = 0; i < N; i++) {
		long value = block[order[i]];
		sum += value;
		sum ^= value & 1;
	}
	return sum;
}

int main(void)
{
	long *block = malloc(ELEMENTS * sizeof(*block)), sum = 0;
	unsigned x = 7;

	for (int i = 0; i < N; i++) {
		x = x * 1103515245 + 12345;
		order[i] = (x >> 8) % ELEMENTS;
	}
	for (int i = 0; i < ELEMENTS; i++)
		table[i] = block[i] = i;
	for (double end = cpu_seconds() + 0.8; cpu_seconds() < end;)
		sum += look_up() + look_up_in(block);
	printf("%ld\n", sum);
	return 0;
}
