/* SPDX-License-Identifier: MIT */
/*
 * Touches 500 pages for the first time, then works in memory that has grown by mremap(). Prints
 * where things lie.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 4096, N_PAGES = 500, GROWN = 1 << 20, WORK_MS = 120 };

static void *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(void)
{
	char *pages = map((size_t)N_PAGES * PAGE), *grown = map(PAGE);
	long end = now_ms() + WORK_MS;
	void *heap = malloc(100);
	int here = 0;

	madvise(pages, (size_t)N_PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < N_PAGES; i++)
		pages[(size_t)i * PAGE] = 1;
	grown = mremap(grown, PAGE, GROWN, MREMAP_MAYMOVE);
	if (grown == MAP_FAILED)
		return 1;
	while (now_ms() < end)
		memset(grown, here++, GROWN);
	printf("pages=%p grown=%p heap=%p stack=%p preload=%s\n", (void *)pages, (void *)grown,
		heap, (void *)&here, getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
	return 7;
}
