/* SPDX-License-Identifier: MIT */
/* Loops that print how long an iteration took them, by their processor time. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static double begin_ns; /* of a loop */

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

/* Calls of a microsecond. */
static __attribute__((noipa)) uint64_t turn(uint64_t x)
{
	for (int i = 0; i < 1000; i++)
		x = x * 6364136223846793005u + 1;
	return x;
}
static __attribute__((noipa)) uint64_t other_turn(uint64_t x)
{
	for (int i = 0; i < 1500; i++)
		x = x * 6364136223846793005u + 3;
	return x;
}

/* By these samples the caller is in the profile; its loop around the calls has none. */
static inline uint64_t own_work(uint64_t x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 6364136223846793005u + 5;
	return x;
}

static NOINLINE uint64_t caller(uint64_t n)
{
	uint64_t x = own_work(1, 30000000);

	begin_ns = processor_ns();
	do
		x = other_turn(turn(x));
	while (--n > 0);
	return x;
}

/* The same, but no register counts. */
static NOINLINE uint64_t walking_caller(const struct node *node)
{
	uint64_t x = own_work(1, 100000);

	do
		x = other_turn(turn(x));
	while ((node = node->next) != NULL);
	return x;
}

/* Begins again before the timer's next interrupt. */
static NOINLINE uint64_t short_caller(uint64_t x)
{
	uint64_t n = 20;

	x = own_work(x, 10000);
	do
		x = other_turn(turn(x));
	while (--n > 0);
	return x;
}

/* A long function without a sample of its own. */
static NOINLINE uint64_t large_caller(uint64_t n)
{
	uint64_t x = 1;

	do {
		x = turn(x);
		if (x == 0)
			__asm__ volatile(".rept 1500\n nop\n .endr");
	} while (--n > 0);
	return x;
}

/* Calls of 300 to 2,000 rounds in one loop: the loop around carries its time to them. */
#define CARRIED(rounds, text)                                                                      \
	static __attribute__((noipa)) uint64_t carried_##rounds(uint64_t x)                        \
	{                                                                                          \
		for (int i = 0; i < rounds; i++) {                                                 \
			text;                                                                      \
			__asm__ volatile("" : "+r"(x));                                            \
		}                                                                                  \
		return x;                                                                          \
	}
CARRIED(300, x = (x * 6364136223846793005u) * 25214903917u + 3)
CARRIED(500, x = 0xffffffffffffu / (x | 3) + (unsigned)i)
CARRIED(2000, x = (x * 6364136223846793005u) * 25214903917u + 1)

/* Whose rounds are not the same in each call. */
static __attribute__((noipa)) uint64_t varying(uint64_t x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1;
	return x;
}
static __attribute__((noipa)) uint64_t early(uint64_t x)
{
	for (int i = 0; i < 1000; i++) {
		x = x * 6364136223846793005u + 1;
		if (x >> 55 == 0)
			return x;
	}
	return x;
}
static __attribute__((noipa)) uint64_t sometimes(uint64_t x)
{
	if (x >> 62 == 0)
		return x + 1;
	for (int i = 0; i < 500; i++)
		x = x * 6364136223846793005u + 1;
	return x;
}
static __attribute__((noipa)) uint64_t recursive(uint64_t x, int depth)
{
	for (int i = 0; i < 200; i++)
		x = x * 6364136223846793005u + 1;
	return depth > 0 ? recursive(x, depth - 1) + 1 : x;
}

static NOINLINE uint64_t carrier(uint64_t n)
{
	uint64_t x = 1;

	do {
		x = carried_2000(carried_500(carried_300(x)));
		x = recursive(sometimes(early(varying(x, x >> 54))), 3);
	} while (--n > 0);
	return x;
}

#define PRINT_TIME(rounds)                                                                         \
	do {                                                                                       \
		double begin = processor_ns();                                                     \
		for (int i = 0; i < CALLS; i++)                                                    \
			sink += carried_##rounds(sink);                                            \
		printf("carried_" #rounds " %g\n", (processor_ns() - begin) / CALLS / rounds);     \
	} while (0)

static void carry_in_loops(void)
{
	enum { TURNS = 100000, CALLS = 4000 };
	static volatile uint64_t sink;

	sink += carrier(TURNS);
	PRINT_TIME(300);
	PRINT_TIME(500);
	PRINT_TIME(2000);
}

static void call_in_loops(void)
{
	enum { TURNS = 150000, WALKS = 60, CALLS = 3000 };
	static volatile uint64_t sink;

	sink += caller(TURNS);
	printf("caller %g\n", (processor_ns() - begin_ns) / TURNS);
	begin_ns = processor_ns();
	sink += large_caller(TURNS);
	printf("large_caller %g\n", (processor_ns() - begin_ns) / TURNS);
	for (int i = 0; i < 1023; i++)
		nodes[i].next = &nodes[i + 1];
	for (int i = 0; i < WALKS; i++)
		sink += walking_caller(nodes);
	for (int i = 0; i < CALLS; i++)
		sink += short_caller(sink);
}

/* With an argument: loops around calls; with two: those whose time is carried inward. */
int main(int n, char **arguments)
{
	enum { LONG = 300000000, ROUNDS = 60000, WALKS = 300000, CALLS = 60000 };
	static volatile uint64_t sink, calls;
	double begin = processor_ns();

	(void)arguments;
	if (n > 1) {
		(n > 2 ? carry_in_loops : call_in_loops)();
		return 0;
	}
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
