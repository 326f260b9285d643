/* SPDX-License-Identifier: MIT */
/* Functions that end in a call of an allocator, or of each other: at -O2 these are jumps. */
#include <pthread.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static void *volatile sink;
static volatile int kinds;

APART static void *take(int kind, size_t n)
{
	kinds += kind;
	return malloc(n);
}

APART static void *take_more(int kind, int more, size_t n)
{
	kinds += kind;
	return take(more, n);
}

/* A wrapper around one that ends in a jump. */
APART static void *take_surely(size_t n)
{
	void *block = take(1, n);
	if (block == NULL)
		abort();
	return block;
}

/* Allocates one size: a site. */
APART static void *node_new(void)
{
	return malloc(24); /* site: node */
}

static void *run(void *size)
{
	sink = take(1, (size_t)size); /* site: thread */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	sink = take(argc, 10000);         /* site: first */
	sink = take(argc, 20000);         /* site: second */
	sink = take(argc, 80000);         /* site: eighth */
	sink = take(argc, 90000);         /* site: ninth */
	sink = take_more(argc, 2, 30000); /* site: third */
	sink = take_more(argc, 2, 40000); /* site: fourth */
	sink = take_surely(50000);        /* site: fifth */
	sink = take_surely(60000);        /* site: sixth */
	sink = node_new();
	return pthread_create(&thread, NULL, run, (void *)70000) != 0 ||
	       pthread_join(thread, NULL) != 0;
}
