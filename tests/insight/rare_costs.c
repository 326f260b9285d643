/* SPDX-License-Identifier: MIT */
/* Planted side by side, each in sixty-four functions of its own: a load that misses, through an
 * array of indices and after a branch that is always predicted; bytes filled by a string
 * instruction; a division of real numbers; a full fence; a call through a pointer that goes to one
 * of eight functions at random. In the end it says what some of them cost on this processor: lines
 * "costs ATTRIBUTE MULTIPLE", in multiples of a multiplication of a number in memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "planted_calls.h"

#define SIXTY_FOUR(F)                                                                              \
	EIGHT(F, 1)                                                                                \
	EIGHT(F, 2)                                                                                \
	EIGHT(F, 3) EIGHT(F, 4) EIGHT(F, 5) EIGHT(F, 6) EIGHT(F, 7) EIGHT(F, 8)

enum { N_COLUMNS = 1 << 10, N_VALUES = 1 << 21 };

static uint64_t *values;
static uint32_t columns[N_COLUMNS]; /* stays in the first-level cache */
static volatile uint32_t row;       /* so that other values are used in each round */
static volatile uint64_t limit = UINT64_MAX;
static volatile uint64_t order;
static uint8_t text[64];

#define GATHER(n)                                                                                  \
	__attribute__((noinline)) static uint64_t gather_##n(uint64_t x)                           \
	{                                                                                          \
		x = stir(x, n);                                                                    \
		if (x < limit)                                                                     \
			x ^= values[columns[x % N_COLUMNS] ^ row];                                 \
		return stir(x, 3 * n);                                                             \
	}
#define BLANK(n)                                                                                   \
	__attribute__((noinline)) static uint64_t blank_##n(uint64_t x)                            \
	{                                                                                          \
		uint8_t *at = text;                                                                \
		uint64_t size = 20 + (n) % 8;                                                      \
		x = stir(x, n);                                                                    \
		__asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(x) : "memory");          \
		return stir(x, 5 * n);                                                             \
	}
#define SCALE(n)                                                                                   \
	__attribute__((noinline)) static uint64_t scale_##n(uint64_t x)                            \
	{                                                                                          \
		x = stir(x, n);                                                                    \
		double part = (double)(int64_t)(x >> 40) / (double)(int64_t)(x >> 50 | 1);         \
		return stir(x ^ (uint64_t)(int64_t)part, 7 * n);                                   \
	}
#define PUBLISH(n)                                                                                 \
	__attribute__((noinline)) static uint64_t publish_##n(uint64_t x)                          \
	{                                                                                          \
		x = stir(x, n);                                                                    \
		order = x;                                                                         \
		__asm__ volatile("mfence" ::: "memory");                                           \
		return stir(x, 9 * n);                                                             \
	}

SIXTY_FOUR(GATHER)
SIXTY_FOUR(BLANK)
SIXTY_FOUR(SCALE)
SIXTY_FOUR(PUBLISH)
SIXTY_FOUR(DISPATCH)

enum { TRIALS = 100000, TIMES = 5 };

static double processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void multiply(void)
{
	static uint64_t x = 3;

	__asm__ volatile("imul %0, %0" : "+r"(x));
}
static void blank(void)
{
	uint8_t *at = text;
	uint64_t size = 24;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(0) : "memory");
}
static void divide(void)
{
	static double value = 3;

	__asm__ volatile("divsd %1, %0" : "+x"(value) : "x"(1.0000001));
}
static void publish(void)
{
	__asm__ volatile("mfence" ::: "memory");
}

/* The least of some times. */
static double cost_of(void (*work)(void))
{
	double least = 1e18;

	for (int time = 0; time < TIMES; time++) {
		double begin = processor_ns();
		for (int i = 0; i < TRIALS; i++)
			work();
		double took = processor_ns() - begin;
		least = took < least ? took : least;
	}
	return least;
}

static void say_costs(void)
{
	static const struct {
		const char *attribute;
		void (*work)(void);
	} costs[] = {{"op:rep_stosb", blank}, {"op:divsd", divide}, {"op:mfence", publish}};
	double unit = cost_of(multiply);

	for (int i = 0; i < 3; i++)
		printf("costs %s %.2f\n", costs[i].attribute, cost_of(costs[i].work) / unit);
}

#define REPEAT(call, count)                                                                        \
	for (int i = 0; i < (count); i++)                                                          \
		x += call(x);
#define CALLS(n)                                                                                   \
	REPEAT(gather_##n, 5)                                                                      \
	REPEAT(blank_##n, 40)                                                                      \
	REPEAT(scale_##n, 40)                                                                      \
	REPEAT(publish_##n, 20)                                                                    \
	REPEAT(apply_##n, 20)

int main(void)
{
	uint64_t x = 97;

	values = malloc(N_VALUES * sizeof(*values));
	for (uint64_t i = 0; i < N_VALUES; i++)
		values[i] = i * 0x9e3779b97f4a7c15u;
	for (uint64_t i = 0; i < N_COLUMNS; i++)
		columns[i] = (uint32_t)(i * 0x9e3779b97f4a7c15u >> 32) % N_VALUES;
	for (uint32_t round = 0; round < 2500; round++) {
		row = round * 2654435761u % N_VALUES;
		SIXTY_FOUR(CALLS)
	}
	printf("%u\n", (unsigned)(x >> 32));
	say_costs();
	return 0;
}
