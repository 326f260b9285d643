/* SPDX-License-Identifier: MIT */
/*
 * Threads that work on memory which the first thread touched: where the kernel puts it without a
 * placement is where that one runs. Two threads share each block. Prints what a placement has to
 * come to, and how the threads ran:
 *
 *   block NUMBER ADDRESS END            END: behind its last byte
 *   thread NUMBER BLOCK PROCESSOR…      those that the thread may run on
 *
 *   handed_over MILLISECONDS
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { THREADS = 4, BLOCKS = 2, WORDS = 1 << 17 };

typedef struct {
	uint64_t *words;
	uint64_t sum;
	unsigned number, block;
	cpu_set_t processors;
} Work;

static uint64_t *blocks[BLOCKS];
static double end_ms;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Ordinary loads and stores; what two threads write at once is of no matter. */
static uint64_t add(uint64_t *word, uint64_t value)
{
	uint64_t before = __atomic_load_n(word, __ATOMIC_RELAXED);

	__atomic_store_n(word, before + value, __ATOMIC_RELAXED);
	return before;
}

static void *work(void *data)
{
	Work *self = data;
	uint64_t *words = self->words, sum = 0;

	sched_getaffinity(0, sizeof(self->processors), &self->processors);
	do
		for (unsigned i = 0; i < WORDS; i++)
			sum += add(&words[(i * 5 + self->number) % WORDS], i);
	while (now_ms() < end_ms);
	self->sum = sum;
	return NULL;
}

/* One from the heap's mappings, one of the program's own. */
static void make_blocks(void)
{
	const size_t size = WORDS * sizeof(uint64_t);

	blocks[0] = malloc(size);
	blocks[1] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (blocks[0] == NULL || blocks[1] == MAP_FAILED)
		abort();
	for (unsigned i = 0; i < BLOCKS; i++)
		memset(blocks[i], (int)i, size);
}

static void print(const Work *works)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		printf("block %u %p %p\n", i, (void *)blocks[i], (void *)(blocks[i] + WORDS));
	for (unsigned i = 0; i < THREADS; i++) {
		printf("thread %u %u", i + 1, works[i].block);
		for (unsigned k = 0; k < CPU_SETSIZE; k++)
			if (CPU_ISSET(k, &works[i].processors))
				printf(" %u", k);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	Work works[THREADS];

	make_blocks();
	end_ms = now_ms() + (argc > 1 ? atof(argv[1]) : 100);
	for (unsigned i = 0; i < THREADS; i++) {
		works[i] = (Work){.number = i + 1, .block = i % BLOCKS};
		works[i].words = blocks[works[i].block];
		if (pthread_create(&threads[i], NULL, work, &works[i]) != 0)
			abort();
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	print(works);
	return 0;
}
