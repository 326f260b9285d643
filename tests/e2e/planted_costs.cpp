/* SPDX-License-Identifier: MIT */
/*
 * A program that is built with a planted cost, and without:
 *
 *   -DDIVISIONS      places in the table are found by remainders, else by a mask
 *   -DKEY=long       the type of the parameter of place_keys()
 *
 *   planted_costs ROUNDS [sorted] [SIZE]
 *
 * In each round the keys are placed thrice, and numbers are counted by branches, which depend on
 * their order: sorted or shuffled. SIZE: so many times as many numbers.
 *
 * Prints the processor time of each function, a line "NAME NANOSECONDS": how much longer one takes
 * with a division or with shuffled numbers depends on the processor. Each is called 50 times in a
 * row, so that the system calls that measure cost little.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#ifndef KEY
#define KEY int
#endif

enum { KEYS = 1 << 12, NUMBERS = 1 << 14, MAX_SIZE = 8 };

static volatile uint64_t n_places = 1024;
static uint32_t places[1024];
static int numbers[MAX_SIZE * NUMBERS];
static volatile int odd, even, above;

/* Functions of their own, not cloned for their arguments. */
#define APART __attribute__((noinline, noclone, noipa))

APART static void place_keys(KEY first)
{
	uint64_t size = n_places;

	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t hash = (i + (uint64_t)first) * 0x9e3779b97f4a7c15u;
#ifdef DIVISIONS
		places[hash % size]++;
#else
		places[hash & (size - 1)]++;
#endif
	}
}

/* The compiler keeps branches around volatile stores. */
APART static void count_even(int n)
{
	for (int i = 0; i < n; i++)
		if (numbers[i] & 1 << 20)
			even = i;
}

APART static void count_odd(int n)
{
	for (int i = 0; i < n; i++)
		if (!(numbers[i] & 1 << 20))
			odd = i;
}

APART static void count_above(int n)
{
	for (int i = 0; i < n; i++)
		if (numbers[i] > 1 << 20)
			above = i;
}

enum { CALLS = 50 };

static double processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The time since `since`, which is now after it. */
static double elapsed(double *since)
{
	double before = *since;

	*since = processor_ns();
	return *since - before;
}

int main(int argc, char **argv)
{
	double placing = 0, even_time = 0, odd_time = 0, above_time = 0;
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
	bool is_sorted = argc > 2 && strcmp(argv[2], "sorted") == 0;
	int n = NUMBERS * (argc > 3 ? atoi(argv[3]) : 1);
	uint32_t x = 2463534242u;

	for (int i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		numbers[i] = is_sorted ? (int)((1LL << 21) * i / n) : (int)(x & ((1 << 21) - 1));
	}
	double since = processor_ns();
	for (unsigned long round = 0; round < rounds; round += CALLS) {
		for (int i = 0; i < 3 * CALLS; i++)
			place_keys((KEY)round + i);
		placing += elapsed(&since);
		for (int i = 0; i < CALLS; i++)
			count_even(n);
		even_time += elapsed(&since);
		for (int i = 0; i < CALLS; i++)
			count_odd(n);
		odd_time += elapsed(&since);
		for (int i = 0; i < CALLS; i++)
			count_above(n);
		above_time += elapsed(&since);
	}
	printf("place_keys %.0f\ncount_even %.0f\ncount_odd %.0f\ncount_above %.0f\n", placing,
		even_time, odd_time, above_time);
	printf("%u %d\n", places[0], even);
	return 0;
}
