/* SPDX-License-Identifier: MIT */
/* Loops that print how long an iteration took them, by their processor time. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static double processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* One call, with a counter. */
static NOINLINE uint64_t long_call(uint64_t n)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < n; i++) {
		x = x * 6364136223846793005u + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* An inner loop of some microseconds: the loop around it has a time. */
static NOINLINE uint64_t nested(uint64_t rounds)
{
	uint64_t x = 1;

	for (uint64_t r = 0; r < rounds; r++) {
		for (uint64_t i = 0; i < 5000; i++) {
			x = x * 6364136223846793005u + i;
			__asm__ volatile("" : "+r"(x));
		}
		__asm__ volatile("" : : : "memory");
	}
	return x;
}

/* No register counts. */
struct node {
	struct node *next;
};
static struct node nodes[1024];

static NOINLINE void walk(const struct node *node, const struct node *end)
{
	do {
		node = node->next;
		__asm__ volatile("" : "+r"(node));
	} while (node != end);
}

/* Called so often that a counter says nothing, with nothing that tells calls apart. */
static NOINLINE uint64_t short_call(uint64_t n)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < n; i++) {
		x = x * 6364136223846793005u + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

int main(void)
{
	enum { LONG = 300000000, ROUNDS = 60000, WALKS = 300000, CALLS = 60000 };
	static volatile uint64_t sink, calls;
	double begin = processor_ns();

	sink += long_call(LONG);
	printf("long_call %g\n", (processor_ns() - begin) / LONG);
	begin = processor_ns();
	sink += nested(ROUNDS);
	printf("nested %g\n", (processor_ns() - begin) / ROUNDS);
	for (int i = 0; i < 1024; i++)
		nodes[i].next = &nodes[(i + 1) % 1024];
	for (int i = 0; i < WALKS; i++)
		walk(nodes[0].next, nodes);
	for (calls = 0; calls < CALLS; calls++)
		sink += short_call(5000);
	return 0;
}
