/* SPDX-License-Identifier: MIT */
/*
 * Thread 0 touches both halves of a block, then threads 0 and 1 work on a half each. Prints where
 * the kernel has the block's pages, and on which processor each thread works. The argument says for
 * how many rounds they do.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HALF = 4 << 20 };

static unsigned char *block;
static int n_rounds = 20;
static int processors[2];

static void *work(void *data)
{
	uintptr_t half = (uintptr_t)data;

	for (int round = 0; round < n_rounds; round++)
		for (size_t i = 0; i < HALF; i += 64)
			block[half * HALF + i]++;
	processors[half] = sched_getcpu();
	return NULL;
}

/* The lines of numa_maps of mappings that begin in the block; a policy cuts one into several. */
static void print_pages(void)
{
	FILE *file = fopen("/proc/self/numa_maps", "re");
	char line[1024];
	uint64_t start;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "%lx", &start) == 1 && start >= (uint64_t)block &&
			start < (uint64_t)block + 2 * HALF)
			fputs(line, stdout);
	if (file != NULL)
		fclose(file);
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc > 1)
		n_rounds = atoi(argv[1]);

	/* At a place of its own, so that it does not grow together with other mappings. */
	block = mmap((void *)0x200000000000, 2 * HALF, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (block == MAP_FAILED)
		return 1;
	memset(block, 1, 2 * HALF);
	if (pthread_create(&other, NULL, work, (void *)1) != 0)
		return 1;
	work(NULL);
	pthread_join(other, NULL);
	print_pages();
	printf("thread 0 on CPU %d, thread 1 on CPU %d\n", processors[0], processors[1]);
	return 0;
}
