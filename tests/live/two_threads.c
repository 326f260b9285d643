/* SPDX-License-Identifier: MIT */
/*
 * A program of known accesses: the first thread loads from one array, the second stores to another,
 * for the given seconds. It says where they lie. With a second argument what is stored to is on the
 * heap. Both sleep most of the time: a picture needs few samples, and what else runs needs the
 * processors.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOADED_WORDS = 1 << 16, STORED_WORDS = 1 << 13 };

static uint64_t loaded[LOADED_WORDS] __attribute__((aligned(4096))) = {1};
static uint64_t stored[STORED_WORDS] __attribute__((aligned(4096)));
static volatile sig_atomic_t is_over;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

__attribute__((noinline)) static uint64_t load_all(const volatile uint64_t *words)
{
	uint64_t sum = 0;

	for (int i = 0; i < LOADED_WORDS; i += 8)
		sum += words[i];
	return sum;
}

__attribute__((noinline)) static void store_all(volatile uint64_t *words)
{
	for (int i = 0; i < STORED_WORDS; i++)
		words[i] = (uint64_t)i;
}

/* Longer than what is done between two of them. */
static void rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1500000}, NULL);
}

static void *store_on(void *words)
{
	while (!is_over) {
		for (int i = 0; i < 100; i++)
			store_all(words);
		rest();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? strtod(argv[1], NULL) : 1);
	pthread_t thread;
	uint64_t sum = 0;

	printf("loaded %p stored %p\n", (void *)loaded, (void *)stored);
	fflush(stdout);
	void *words = argc > 2 ? malloc(sizeof(stored)) : stored;
	if (words == NULL || pthread_create(&thread, NULL, store_on, words) != 0)
		return 1;
	while (now() < end) {
		for (int i = 0; i < 100; i++)
			sum += load_all(loaded);
		rest();
	}
	is_over = 1;
	pthread_join(thread, NULL);
	fprintf(stderr, "sum %llu\n", (unsigned long long)sum);
	return 0;
}
