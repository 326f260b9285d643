/* SPDX-License-Identifier: MIT */
/*
 * Two threads that follow a list each, which the other one has built and so touched first: where
 * each thread runs on a node of its own, all of its pages are on the wrong one. Each load of a
 * round gives the address of the next one ("mov (%rax),%rax").
 *
 *   two_lists [ROUNDS [numa]]    numa: also prints where the kernel has the lists' pages
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { N_NODES = 1 << 17, N_LISTS = 2 };

struct node {
	struct node *next;
	long unused[7];
};

static struct node *lists[N_LISTS];
static long n_rounds = 200;
static int processors[N_LISTS];
static pthread_barrier_t are_built;

/* In an order that no prefetcher knows, but each node once. */
static void build(struct node *list, uint32_t seed)
{
	static uint32_t orders[N_LISTS][N_NODES];
	uint32_t *order = orders[list == lists[1]];

	for (uint32_t i = 0; i < N_NODES; i++)
		order[i] = i;
	for (uint32_t i = N_NODES - 1; i > 0; i--) {
		seed = seed * 1664525 + 1013904223;
		uint32_t other = (seed >> 8) % (i + 1), kept = order[i];
		order[i] = order[other];
		order[other] = kept;
	}
	for (uint32_t i = 0; i < N_NODES; i++)
		list[order[i]].next = &list[order[(i + 1) % N_NODES]];
}

__attribute__((noinline)) static struct node *walk(struct node *at)
{
	for (long i = n_rounds * N_NODES; i > 0; i--)
		at = at->next;
	return at;
}

static void *work(void *data)
{
	uintptr_t own = (uintptr_t)data;

	build(lists[1 - own], (uint32_t)own + 1);
	pthread_barrier_wait(&are_built);
	struct node *end = walk(lists[own]);
	processors[own] = sched_getcpu();
	return end;
}

/* Pages by node, of the mappings that begin in the list. */
static void print_pages(int number)
{
	FILE *file = fopen("/proc/self/numa_maps", "re");
	char line[1024];
	uint64_t start, first = (uint64_t)(uintptr_t)lists[number];
	unsigned long pages[2] = {0};

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%lx", &start) != 1 || start < first ||
			start >= first + N_NODES * sizeof(struct node))
			continue;
		for (int node = 0; node < 2; node++) {
			char word[] = {' ', 'N', (char)('0' + node), '=', '\0'};
			const char *at = strstr(line, word);
			pages[node] += at != NULL ? strtoul(at + strlen(word), NULL, 10) : 0;
		}
	}
	if (file != NULL)
		fclose(file);
	/* Processor n is of node n. */
	printf("list %d: thread on CPU %d, pages on node 0: %lu, node 1: %lu, remote: %lu\n",
		number, processors[number], pages[0], pages[1], pages[processors[number] == 0]);
}

int main(int argc, char **argv)
{
	pthread_t threads[N_LISTS];
	struct timespec begin, end;

	if (argc > 1)
		n_rounds = atol(argv[1]);
	/* The same addresses in each run and on each machine. */
	for (int i = 0; i < N_LISTS; i++) {
		lists[i] = mmap((void *)(uintptr_t)(0x100000000000 + i * 0x100000000),
			N_NODES * sizeof(struct node), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (lists[i] == MAP_FAILED)
			return 1;
	}
	pthread_barrier_init(&are_built, NULL, N_LISTS);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < N_LISTS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0)
			return 1;
	for (int i = 0; i < N_LISTS; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	for (int i = 0; i < N_LISTS && argc > 2; i++)
		print_pages(i);
	printf("elapsed: %.2f s\n",
		(double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9);
	return 0;
}
