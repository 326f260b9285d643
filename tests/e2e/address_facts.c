/* SPDX-License-Identifier: MIT */
/*
 * Walks over 64 MiB, or parts of it, each with one kind of addresses:
 *
 *   address_facts KIND SECONDS
 *
 *   pages     every 4096 bytes                 lines    all of them, in order
 *   gather    by an array of indices           small    likewise, over 64 pages
 *   chase     each address out of the last     records  8 of each 128 bytes
 *   columns   a matrix, by columns of 4096     padded   likewise, of 4096 + 64
 *   pitch     likewise, of more rows than      even     likewise, of 4096 + 64
 *             windows see
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define AS_WRITTEN _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define AS_WRITTEN _Pragma("GCC unroll 1")
#endif
#define APART __attribute__((noinline))

enum {
	PAGES = 16384,
	SMALL_PAGES = 64,
	INDICES = 1 << 20,
	ROWS = 24,
	MANY_ROWS = 300,
	COLUMNS = 512
};

static unsigned order[INDICES];
static long data[PAGES * 512] __attribute__((aligned(4096)));

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static APART long walk(const volatile long *from, long n, long step)
{
	long sum = 0;

	AS_WRITTEN
	for (long i = 0; i < n; i++)
		sum += from[i * step];
	return sum;
}

static APART long gather(const volatile long *from, long n)
{
	long sum = 0;

	AS_WRITTEN
	for (long i = 0; i < n; i++)
		sum += from[order[i]];
	return sum;
}

static APART long chase(const volatile long *at, long n)
{
	AS_WRITTEN
	for (long i = 0; i < n; i++)
		at = (const volatile long *)*at;
	return (long)at;
}

static APART long columns(const volatile long *matrix, long lead, long rows)
{
	long sum = 0;

	for (long column = 0; column < COLUMNS - 8; column++) {
		const volatile long *at = matrix + column;
		AS_WRITTEN
		for (long row = 0; row < rows; row++, at += lead)
			sum += *at;
	}
	return sum;
}

static void fill(long n_words)
{
	uint32_t x = 7;

	memset(data, 1, sizeof(data));
	for (int i = 0; i < INDICES; i++) {
		x = x * 1103515245 + 12345;
		order[i] = (unsigned)((uint64_t)x * (uint64_t)n_words >> 32);
	}
}

/* A cycle through all lines (D. Knuth, "The Art of Computer Programming", 3.2.1.2, theorem A). */
static void link_lines(void)
{
	const long n = PAGES * 64;

	for (long i = 0; i < n; i++)
		data[i * 8] = (long)&data[(i * 1664525 + 1013904223) % n * 8];
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "lines";
	double end = argc > 2 ? atof(argv[2]) : 1;
	long sum = 0;

	fill((strcmp(kind, "small") == 0 ? SMALL_PAGES : PAGES) * 512L);
	if (strcmp(kind, "chase") == 0)
		link_lines();
	for (end += cpu_seconds(); cpu_seconds() < end;) {
		if (strcmp(kind, "pages") == 0)
			sum += walk(data, PAGES, 512);
		else if (strcmp(kind, "lines") == 0)
			sum += walk(data, PAGES * 512L, 1);
		else if (strcmp(kind, "records") == 0)
			sum += walk(data, PAGES * 32L, 16);
		else if (strcmp(kind, "chase") == 0)
			sum += chase(data, INDICES);
		else if (strcmp(kind, "columns") == 0)
			sum += columns(data, 512, ROWS);
		else if (strcmp(kind, "padded") == 0)
			sum += columns(data, 512 + 8, ROWS);
		else if (strcmp(kind, "pitch") == 0)
			sum += columns(data, 512, MANY_ROWS);
		else if (strcmp(kind, "even") == 0)
			sum += columns(data, 512 + 8, MANY_ROWS);
		else
			sum += gather(data, INDICES);
	}
	printf("%ld\n", sum);
	return 0;
}
