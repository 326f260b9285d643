/* SPDX-License-Identifier: MIT */
/*
 * Two threads and what they count in, by the first argument:
 *
 *   false    each its own counter, both in one cache line
 *   padded   the same, each in a line of its own
 *   true     one atomic counter
 *   handed   the one thread fills an array, and ends before the other reads it
 *
 *   shared_lines CASE ROUNDS [CHUNK]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	atomic_ulong hits, misses;
} together __attribute__((aligned(128)));

static struct {
	atomic_ulong hits;
	char line[120];
	atomic_ulong misses;
	char another[120];
} apart __attribute__((aligned(128)));

static struct {
	atomic_ulong total;
	char line[120];
} atomic __attribute__((aligned(128)));

static atomic_ulong array[1024] __attribute__((aligned(128)));
static unsigned long rounds, chunk;
static pthread_barrier_t barrier;

/* NAME counts in PLACE; the threads wait for each other after each chunk. Atomic, as a plain
 * addition goes on in the store buffer while another processor has the line. */
#define COUNT(name, place)                                                                         \
	static void *name(void *unused)                                                            \
	{                                                                                          \
		for (unsigned long left = rounds; left >= chunk; left -= chunk) {                  \
			unsigned long n = chunk;                                                   \
			do                                                                         \
				place++;                                                           \
			while (--n != 0);                                                          \
			pthread_barrier_wait(&barrier);                                            \
		}                                                                                  \
		return unused;                                                                     \
	}

COUNT(hit, together.hits)
COUNT(miss, together.misses)
COUNT(hit_apart, apart.hits)
COUNT(miss_apart, apart.misses)
COUNT(add, atomic.total)

static void *fill(void *unused)
{
	for (unsigned long i = 0; i < rounds; i++)
		array[i % 1024] = i;
	return unused;
}

static void *sum(void *unused)
{
	static volatile unsigned long total;
	unsigned long own = 0;

	for (unsigned long i = 0; i < rounds; i++)
		own += atomic_load_explicit(&array[i % 1024], memory_order_relaxed);
	total = own;
	return unused;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void *(*threads[2])(void *);
	} cases[] = {
		{"false", {hit, miss}},
		{"padded", {hit_apart, miss_apart}},
		{"true", {add, add}},
		{"handed", {fill, sum}},
	};
	pthread_t threads[2];

	rounds = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
	chunk = argc == 4 ? strtoul(argv[3], NULL, 10) : rounds;
	pthread_barrier_init(&barrier, NULL, 2);
	for (size_t i = 0; chunk > 0 && i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(cases[i].name, argv[1]) != 0)
			continue;
		int one_by_one = strcmp(argv[1], "handed") == 0;
		for (int j = 0; j < 2; j++) {
			pthread_create(&threads[j], NULL, cases[i].threads[j], NULL);
			if (one_by_one)
				pthread_join(threads[j], NULL);
		}
		for (int j = 0; j < 2 && !one_by_one; j++)
			pthread_join(threads[j], NULL);
		return 0;
	}
	return 2;
}
