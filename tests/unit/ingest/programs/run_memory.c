/* SPDX-License-Identifier: MIT */
/* Touches 14,000 pages of one array and 6,000 of another for the first time, then adds up a third
 * one, out of the cache, for some seconds. Prints how many pages it touched. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, LARGE_PAGES = 14000, SMALL_PAGES = 6000, N_SUMS = 1 << 20 };

static char large[LARGE_PAGES * (size_t)PAGE] __attribute__((aligned(PAGE)));
static char small[SMALL_PAGES * (size_t)PAGE] __attribute__((aligned(PAGE)));
static long summed[N_SUMS] = {1};

static void __attribute__((noinline)) touch(char *pages, long n)
{
	for (long i = 0; i < n; i++)
		((volatile char *)pages)[i * PAGE] = 1;
}

/* Each 17th line, so that the processor cannot read ahead. */
static long __attribute__((noinline)) sum(long rounds)
{
	long result = 0;

	for (unsigned long i = 0; i < (unsigned long)rounds * 100000; i++)
		result += ((volatile long *)summed)[i * 136 % N_SUMS];
	return result;
}

int main(int argc, char **argv)
{
	madvise(large, sizeof(large), MADV_NOHUGEPAGE);
	madvise(small, sizeof(small), MADV_NOHUGEPAGE);
	/* in turns, as the kernel's first samples are of the first faults */
	for (long i = 0; i < 1000; i++) {
		touch(large + i * (LARGE_PAGES / 1000) * PAGE, LARGE_PAGES / 1000);
		touch(small + i * (SMALL_PAGES / 1000) * PAGE, SMALL_PAGES / 1000);
	}
	long result = sum(argc > 1 ? atol(argv[1]) : 1);
	printf("%d %ld\n", LARGE_PAGES + SMALL_PAGES, result);
	return 0;
}
