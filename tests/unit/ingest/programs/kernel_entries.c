/* SPDX-License-Identifier: MIT */
/* Enters the kernel by write(), by first touches of pages and by madvise(), each in a function of
 * its own, for some tenths of a second. Prints the time of the writes and of the touches in the
 * kernel, in microseconds, and how many pages were touched. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 7000 };

static char pages[PAGES * (size_t)PAGE] __attribute__((aligned(PAGE)));

static void __attribute__((noinline)) write_bytes(int file, long n)
{
	for (long i = 0; i < n; i++)
		if (write(file, "x", 1) != 1)
			abort();
}

static void __attribute__((noinline)) touch(void)
{
	for (long i = 0; i < PAGES; i++)
		((volatile char *)pages)[i * PAGE] = 1;
}

static long system_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_stime.tv_sec * 1000000 + usage.ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1, start = system_us();
	int file = open("/dev/null", O_WRONLY);

	madvise(pages, sizeof(pages), MADV_NOHUGEPAGE);
	write_bytes(file, rounds * 200000);
	long written = system_us();
	for (long i = 0; i < rounds; i++) {
		touch();
		madvise(pages, sizeof(pages), MADV_DONTNEED);
	}
	printf("%ld %ld %ld\n", written - start, system_us() - written, rounds * PAGES);
	return 0;
}
