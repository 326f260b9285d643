/* SPDX-License-Identifier: MIT */
/*
 * Walks by pointers to plain numbers, each function over one kind of memory: a file, shared memory,
 * the stack, thread-local arrays. An argument names the file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 1 << 22, N_OWN = 1 << 20, ROUNDS = 2000000 };

struct cell {
	uint64_t key;
	uint32_t value, rest;
};

static volatile uint32_t sink;
static __thread uint32_t own[N_OWN];
static __thread struct cell cells[N_OWN / 4];

/* Marsaglia's xorshift; each index waits for the value before. Two functions that are the same
 * would be made one: they begin by different sums. */
#define WALK(begin, element)                                                                       \
	uint32_t sum = (begin);                                                                    \
	uint64_t x = 88172645463325252;                                                            \
	for (unsigned i = 0; i < ROUNDS; i++) {                                                    \
		x ^= x << 13;                                                                      \
		x ^= x >> 7;                                                                       \
		x ^= x << 17;                                                                      \
		sum += (element);                                                                  \
	}                                                                                          \
	sink += sum

#define APART __attribute__((noinline)) static void

APART walk_file(const uint32_t *numbers)
{
	WALK(1, numbers[(x + sum) % N]);
}

APART walk_shared(const uint32_t *numbers)
{
	WALK(2, numbers[(x + sum) % N]);
}

APART walk_shared_cells(const struct cell *all)
{
	WALK(3, all[(x + sum) % (N / 4)].rest);
}

APART walk_own(void)
{
	WALK(4, own[(x + sum) % N_OWN]);
}

APART walk_own_cells(void)
{
	WALK(5, cells[(x + sum) % (N_OWN / 4)].value);
}

static void *run(void *nothing)
{
	memset(own, 0, sizeof(own));
	memset(cells, 0, sizeof(cells));
	walk_own();
	walk_own_cells();
	return nothing;
}

int main(int argc, char **argv)
{
	int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	pthread_t thread;

	if (file < 0 || ftruncate(file, N * sizeof(uint32_t)) != 0)
		return 1;
	uint32_t *numbers = mmap(
		NULL, N * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	uint32_t *shared = mmap(NULL, N * sizeof(uint32_t), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(numbers, 0, N * sizeof(uint32_t));
	memset(shared, 0, N * sizeof(uint32_t));
	walk_file(numbers);
	walk_shared(shared);
	walk_shared_cells((struct cell *)shared);
	if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 1;
	return run(NULL) != NULL;
}
