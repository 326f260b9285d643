/* SPDX-License-Identifier: MIT */
/*
 * Programs to attach to, which go on until a signal ends them.
 *
 *   attached_program kernel     spends most of its time in the kernel, by copying through a pipe
 *   attached_program threads    threads begin all the time, work for some milliseconds, and start
 *                               others
 *   attached_program memory     two threads that count in a table of their own each, and sleep most
 *                               of the time
 *   attached_program objects    likewise, in words that were allocated and in global structures
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N_BRANCHES = 4, N_SUMS = 64 };

static char buffer[60000];
static volatile uint64_t sums[N_SUMS];

static int copy_through_pipe(void)
{
	int ends[2];

	if (pipe(ends) != 0)
		return 1;
	for (uint64_t round = 0;; round++) {
		for (uint64_t i = 0; i < 20000; i++)
			sums[0] += i * round;
		for (int i = 0; i < 10; i++)
			if (write(ends[1], buffer, sizeof(buffer)) < 0 ||
				read(ends[0], buffer, sizeof(buffer)) < 0)
				return 1;
	}
}

static int64_t own_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void work(uintptr_t number, int64_t time_ns)
{
	int64_t end_ns = own_time_ns() + time_ns;

	while (own_time_ns() < end_ns)
		for (uint64_t i = 0; i < 10000; i++)
			sums[number % N_SUMS] += i;
}

static void *work_as_leaf(void *number)
{
	work((uintptr_t)number, 3000000);
	return NULL;
}

static void *work_as_branch(void *number)
{
	pthread_t leaf;

	work((uintptr_t)number, 1000000);
	if (pthread_create(&leaf, NULL, work_as_leaf, number) != 0)
		return NULL;
	work((uintptr_t)number, 3000000);
	pthread_join(leaf, NULL);
	return NULL;
}

static int make_threads(void)
{
	for (uintptr_t number = 0;; number++) {
		pthread_t branches[N_BRANCHES];
		for (int i = 0; i < N_BRANCHES; i++)
			if (pthread_create(&branches[i], NULL, work_as_branch, (void *)number) != 0)
				return 1;
		for (int i = 0; i < N_BRANCHES; i++)
			pthread_join(branches[i], NULL);
	}
}

enum { TABLE_WORDS = 1 << 20 };
uint64_t first_table[TABLE_WORDS], second_table[TABLE_WORDS];

static void *count_in(void *table)
{
	volatile uint64_t *words = table;
	uint64_t at = 1;

	/* Pages that were only read are all one, on no node. */
	for (uint64_t i = 0; i < TABLE_WORDS; i += 512)
		words[i] = 0;
	/* What the address is made of outlives the access. */
	for (;;) {
		for (int i = 0; i < 200000; i++) {
			words[at] += 1;
			at = (at * 5 + 1) % TABLE_WORDS;
		}
		nanosleep(&(struct timespec){.tv_nsec = 4000000}, NULL);
	}
	return NULL;
}

static int count_in_tables(void)
{
	pthread_t second;

	if (pthread_create(&second, NULL, count_in, second_table) != 0)
		return 1;
	count_in(first_table);
	return 0;
}

struct pair {
	uint64_t key;
	volatile uint64_t value;
};

static struct pair pairs[TABLE_WORDS];

static void *count_in_pairs(void *unused)
{
	uint64_t at = 1;

	(void)unused;
	for (;;) {
		pairs[at].value += 1;
		at = (at * 5 + 1) % TABLE_WORDS;
	}
	return NULL;
}

static int count_in_objects(void)
{
	uint64_t *words = malloc(TABLE_WORDS * sizeof(*words));
	pthread_t second;

	if (words == NULL || pthread_create(&second, NULL, count_in_pairs, NULL) != 0)
		return 1;
	count_in(words);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		return make_threads();
	if (argc > 1 && strcmp(argv[1], "memory") == 0)
		return count_in_tables();
	if (argc > 1 && strcmp(argv[1], "objects") == 0)
		return count_in_objects();
	return copy_through_pipe();
}
