/* SPDX-License-Identifier: MIT */
/*
 * What the kernels share: threads that each work on arrays of their own, and where these lie.
 *
 *   KERNEL [THREADS [ELEMENTS [ROUNDS]]]      defaults: 1, 1000, 1; one thread is the main one
 *
 * When KERNEL_BOUNDS names a file, each thread writes "TID START END array" (hexadecimal) for each
 * of its arrays, and "TID START END stack", before it begins.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
	size_t n;        /* elements */
	unsigned rounds; /* how often all of the work is done */
	unsigned seed;   /* differs between threads */
	uint64_t result; /* so that no work is left out */
} Kernel;

/* Each kernel has one: allocates by kernel_array(), works, sets the result. */
static void kernel_run(Kernel *self);

static FILE *kernel_bounds;
static pthread_mutex_t kernel_bounds_lock = PTHREAD_MUTEX_INITIALIZER;

static void kernel_note(const void *start, size_t size, const char *what)
{
	uintptr_t address = (uintptr_t)start;

	if (kernel_bounds == NULL)
		return;
	pthread_mutex_lock(&kernel_bounds_lock);
	fprintf(kernel_bounds, "%ld %lx %lx %s\n", (long)syscall(SYS_gettid), address,
		address + size, what);
	fflush(kernel_bounds);
	pthread_mutex_unlock(&kernel_bounds_lock);
}

/* Pages of their own, which nothing else lies in. */
static void *kernel_array(size_t n, size_t size)
{
	void *array = mmap(
		NULL, n * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (array == MAP_FAILED)
		exit(1);
	kernel_note(array, n * size, "array");
	return array;
}

static inline uint32_t kernel_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void kernel_note_stack(void)
{
	pthread_attr_t attributes;
	void *stack;
	size_t size;

	if (kernel_bounds == NULL || pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &stack, &size) == 0)
		kernel_note(stack, size, "stack");
	pthread_attr_destroy(&attributes);
}

static void *kernel_thread(void *data)
{
	kernel_note_stack();
	kernel_run(data);
	return NULL;
}

enum { KERNEL_MAX_THREADS = 64 };

int main(int argc, char **argv)
{
	static Kernel kernels[KERNEL_MAX_THREADS];
	pthread_t threads[KERNEL_MAX_THREADS];
	int n_threads = argc > 1 ? atoi(argv[1]) : 1;
	uint64_t result = 0;

	if (getenv("KERNEL_BOUNDS") != NULL)
		kernel_bounds = fopen(getenv("KERNEL_BOUNDS"), "w");
	if (n_threads < 1 || n_threads > KERNEL_MAX_THREADS)
		return 2;
	for (int i = 0; i < n_threads; i++)
		kernels[i] = (Kernel){
			.n = argc > 2 ? (size_t)atol(argv[2]) : 1000,
			.rounds = argc > 3 ? (unsigned)atol(argv[3]) : 1,
			.seed = (unsigned)i + 1,
		};
	if (n_threads == 1)
		kernel_thread(&kernels[0]);
	for (int i = 0; i < n_threads && n_threads > 1; i++)
		pthread_create(&threads[i], NULL, kernel_thread, &kernels[i]);
	for (int i = 0; i < n_threads; i++) {
		if (n_threads > 1)
			pthread_join(threads[i], NULL);
		result += kernels[i].result;
	}
	printf("%lu\n", (unsigned long)result);
	return 0;
}
