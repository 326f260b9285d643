/* SPDX-License-Identifier: MIT */
/* Allocates what known.expected says; the lines count. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *volatile sink;

static void *keep(void *block)
{
	sink = block;
	return block;
}

/* A frame whose size is known when it runs only. */
__attribute__((noinline)) static void *deep(int depth, size_t size)
{
	char room[depth * 40 + 8];

	memset(room, 1, sizeof(room));
	keep(room);
	return keep(depth > 0 ? deep(depth - 1, size) : malloc(size));
}

static void *work(void *data)
{
	void *own = keep(malloc(300));

	free(own);
	keep(malloc(301));
	return data;
}

int main(void)
{
	void *block = keep(malloc(64));
	void *other = NULL;
	pthread_t threads[2];

	block = keep(realloc(block, 100000));
	free(block);
	free(keep(calloc(7, 9)));
	free(keep(reallocarray(NULL, 5, 11)));
	free(keep(aligned_alloc(256, 512)));
	if (posix_memalign(&other, 128, 70) == 0)
		free(keep(other));
	keep(memalign(64, 71));
	keep(valloc(72));
	for (int i = 0; i < 3; i++)
		free(deep(5, 80));
	for (int i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, work, NULL);
		pthread_join(threads[i], NULL);
	}
	other = keep(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	munmap(other, 8192);
	other = keep(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	other = keep(mremap(other, 4096, 65536, MREMAP_MAYMOVE));
	return other == MAP_FAILED;
}
