/* SPDX-License-Identifier: MIT */
/*
 * Prints where things lie in a program of some threads: the same addresses are expected with and
 * without the preloaded libraries, without randomisation. Of the libraries' own mappings, which lie
 * below where programs are put, nothing is said.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 50 };

static __thread int of_thread;
static pthread_barrier_t barrier;

typedef struct {
	void *of_thread, *small, *large, *map;
} Places;

static Places places[THREADS];

static void *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* One after the other: which arena a thread gets must not depend on chance. */
static void *work(void *data)
{
	uintptr_t number = (uintptr_t)data;

	pthread_barrier_wait(&barrier); /* all have their stacks */
	for (uintptr_t turn = 0; turn < THREADS; turn++) {
		if (turn == number) {
			for (int i = 0; i < ROUNDS; i++)
				free(malloc(100 + (size_t)i * 37));
			places[number] = (Places){
				&of_thread, malloc(100), malloc(300000), map(1 << 16)};
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void print_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	static char line[512];
	uint64_t start, end;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
			start >= UINT64_C(0x400000000000) && strstr(line, "[stack]") == NULL)
			fputs(line, stdout);
	if (maps != NULL)
		fclose(maps);
}

int main(void)
{
	static char buffer[1 << 16];
	pthread_t threads[THREADS];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	pthread_barrier_init(&barrier, NULL, THREADS);
	printf("heap %p %p %p %p\n", malloc(10), malloc(1 << 20), sbrk(0), map(4096));
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			return 1;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		printf("thread %d: tls %p small %p large %p map %p\n", i, places[i].of_thread,
			places[i].small, places[i].large, places[i].map);
	print_mappings();
	return 0;
}
