/* SPDX-License-Identifier: MIT */
/* Two named threads, one after the other, which run different functions and print the processor
 * time that each took: "cruncher 0.41". */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

volatile uint64_t sum;
volatile double root;

__attribute__((noipa)) static void crunch(uint64_t n)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005U + 1442695040888963407U;
	sum = x;
}

__attribute__((noipa)) static void divide(uint64_t n)
{
	double x = 1e300;

	for (uint64_t i = 0; i < n; i++)
		x = 7 + 1e9 / (x + 1.5);
	root = x;
}

static void *run(void *name)
{
	struct timespec time;

	pthread_setname_np(pthread_self(), name);
	if (*(const char *)name == 'c')
		crunch(400000000);
	else
		divide(30000000);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	printf("%s %.6f\n", (const char *)name, (double)time.tv_sec + (double)time.tv_nsec / 1e9);
	return NULL;
}

int main(void)
{
	static char names[2][16] = {"cruncher", "divider"};

	for (int i = 0; i < 2; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, run, names[i]) != 0)
			return EXIT_FAILURE;
		pthread_join(thread, NULL);
	}
	return EXIT_SUCCESS;
}
