/* SPDX-License-Identifier: MIT */
/*
 * A program of some threads that says where each may run and what it computed: run as it is, and
 * under a placement, its answers must be the same but for the processors.
 *
 *   placed_program THREADS [fork|exec|c11|churn]
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

enum { MAX_THREADS = 64, COUNTS = 4096 };

int counts[COUNTS];
static char *texts[MAX_THREADS];

/* "0 1": the processors that the calling thread may run on. */
static void print_processors(char *text, size_t size)
{
	cpu_set_t set;
	size_t used = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			used += (size_t)snprintf(
				text + used, size - used, "%s%u", used > 0 ? " " : "", i);
}

static void *work(void *data)
{
	uintptr_t number = (uintptr_t)data;
	char processors[1024] = "";
	int *block = malloc(1 << 20);

	for (int i = 0; i < COUNTS; i++) {
		block[i * 64 % (1 << 18)] = i;
		__atomic_fetch_add(&counts[i], block[i * 64 % (1 << 18)], __ATOMIC_RELAXED);
	}
	print_processors(processors, sizeof(processors));
	if (asprintf(&texts[number], "thread %u: %s", (unsigned)number, processors) < 0)
		abort();
	free(block);
	return NULL;
}

static int work_c11(void *data)
{
	work(data);
	return 0;
}

static void run_threads(unsigned n, int is_c11)
{
	pthread_t threads[MAX_THREADS];
	thrd_t threads_c11[MAX_THREADS];

	for (unsigned i = 1; i < n; i++)
		if (is_c11 ? thrd_create(&threads_c11[i], work_c11, (void *)(uintptr_t)i) != 0
			   : pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0)
			abort();
	work(NULL);
	for (unsigned i = 1; i < n; i++)
		if (is_c11)
			thrd_join(threads_c11[i], NULL);
		else
			pthread_join(threads[i], NULL);
}

static void report(unsigned n)
{
	unsigned long sum = 0;

	for (int i = 0; i < COUNTS; i++)
		sum = sum * 31 + (unsigned long)counts[i];
	for (unsigned i = 0; i < n; i++)
		puts(texts[i]);
	printf("sum %lx\n", sum);
}

/* Memory of all kinds and sizes, over and over: what it holds must stay. */
static void churn(void)
{
	unsigned char *blocks[64] = {0};
	unsigned state = 1, sum = 0;

	for (int i = 0; i < 20000; i++) {
		state = state * 1103515245 + 12345;
		unsigned slot = state >> 16 & 63;
		size_t size = 1 + (state >> 8) % (slot < 8 ? 300000 : 3000);
		if (blocks[slot] != NULL)
			sum = sum * 31 + blocks[slot][0];
		if (slot % 3 == 0) {
			blocks[slot] = realloc(blocks[slot], size);
		} else {
			free(blocks[slot]);
			blocks[slot] = slot % 3 == 1 ? calloc(size, 1) : aligned_alloc(64, size);
		}
		blocks[slot][0] = (unsigned char)i;
		blocks[slot][size - 1] = (unsigned char)i;
	}
	for (size_t i = 0; i < 16; i++) {
		char *place = mmap(
			NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		place[0] = 1;
		munmap(place, 1 << 16);
	}
	printf("churned %x\n", sum);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	const char *mode = argc > 2 ? argv[2] : "";

	if (n < 1 || n > MAX_THREADS)
		return 2;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (strcmp(mode, "churn") == 0)
		churn();
	run_threads(n, strcmp(mode, "c11") == 0);
	report(n);
	fflush(stdout);
	if (strcmp(mode, "fork") == 0) {
		if (fork() == 0) {
			run_threads(n, 0);
			report(n);
			fflush(stdout);
			_exit(0);
		}
		wait(NULL);
	}
	if (strcmp(mode, "exec") == 0) {
		char number[16];
		snprintf(number, sizeof(number), "%u", n);
		execl(argv[0], argv[0], number, (char *)NULL);
	}
	if (strcmp(mode, "addresses") == 0)
		printf("%p %p %p\n", (void *)counts, malloc(10), malloc(1 << 20));
	return 7;
}
