/* SPDX-License-Identifier: MIT */
/*
 * A serial and a parallel part whose lengths are measured while they run:
 *
 *   serial_part THREADS SERIAL_MS PARALLEL_MS   processor time: of the serial part, of each thread
 *   serial_part turns SWITCHES [work]           two threads that wake each other on one CPU, and
 *                                               work for two rounds and for one each time
 *   serial_part births THREADS SERIAL_MS        threads that end at once, and then the serial part
 *
 * Prints processor time and time by the clock of both parts, in milliseconds.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64, ROUND = 20000 };

static volatile double result;
static double parallel_ms, worker_cpu_ms[MAX_THREADS];

static double now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

__attribute__((noinline)) static void serial_work(void)
{
	double x = 1;

	for (int i = 0; i < ROUND; i++)
		x = x * 1.0000001 + 1e-9;
	result = x;
}

__attribute__((noinline)) static void parallel_work(void)
{
	double x = 2;

	for (int i = 0; i < ROUND; i++)
		x = x * 1.0000001 + 1e-9;
	result = x;
}

static double work_for(double ms, void (*work)(void))
{
	double begin = now_ms(CLOCK_THREAD_CPUTIME_ID), at = begin;

	while ((at = now_ms(CLOCK_THREAD_CPUTIME_ID)) - begin < ms)
		work();
	return at - begin;
}

static void *run_worker(void *cpu_ms)
{
	*(double *)cpu_ms = work_for(parallel_ms, parallel_work);
	return NULL;
}

static int take_turns(long n, bool has_work)
{
	int there[2], back[2];
	char byte = 0;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(there) != 0 || pipe(back) != 0)
		return 1;
	if (fork() == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1) {
			if (has_work)
				parallel_work();
			if (write(back[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	double begin = now_ms(CLOCK_MONOTONIC);
	for (long i = 0; i < n / 2; i++) {
		for (int k = 0; k < 2 && has_work; k++)
			serial_work();
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
	}
	close(there[1]);
	wait(NULL);
	printf("%ld switches in %.0f ms\n", n, now_ms(CLOCK_MONOTONIC) - begin);
	return 0;
}

static void *end_at_once(void *data)
{
	return data;
}

/* Threads one after another, then work of this one. */
static int start_threads(long n, double ms)
{
	for (long i = 0; i < n; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, end_at_once, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	printf("serial %.3f\n", work_for(ms, serial_work));
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	double parallel_cpu = 0;

	if (argc > 3 && strcmp(argv[1], "births") == 0)
		return start_threads(atol(argv[2]), atof(argv[3]));

	if (argc > 2 && strcmp(argv[1], "turns") == 0)
		return take_turns(atol(argv[2]), argc > 3);
	if (argc < 4 || atoi(argv[1]) > MAX_THREADS)
		return 2;
	int n = atoi(argv[1]);
	parallel_ms = atof(argv[3]);
	double begin = now_ms(CLOCK_MONOTONIC);
	double serial_cpu = work_for(atof(argv[2]), serial_work);
	double middle = now_ms(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run_worker, &worker_cpu_ms[i]);
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		parallel_cpu += worker_cpu_ms[i];
	}
	printf("serial %.3f %.3f parallel %.3f %.3f\n", serial_cpu, middle - begin, parallel_cpu,
		now_ms(CLOCK_MONOTONIC) - middle);
	return 0;
}
