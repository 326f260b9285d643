/* SPDX-License-Identifier: MIT */
/* Branches of which it is known how often they are mispredicted. */
#include <stdio.h>

/* A function of its own, with all of its arguments. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

enum { ROUNDS = 20000, PERIOD = 7, N_TARGETS = 4 };

static unsigned state = 1;

/* One bit, by chance, without a branch. */
static unsigned chance(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state >> 9 & 1;
}

APART static unsigned by_chance(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) {
		if (chance())
			__asm__ volatile("incl %0" : "+r"(sum)); /* no conditional move */
	}
	return sum;
}

APART static unsigned in_loops(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < PERIOD; j++)
			__asm__ volatile("incl %0" : "+r"(sum));
	return sum;
}

static unsigned add(unsigned x)
{
	return x + 1;
}

static unsigned triple(unsigned x)
{
	return x * 3;
}

static unsigned turn(unsigned x)
{
	return ~x;
}

static unsigned keep(unsigned x)
{
	return x;
}

static unsigned (*volatile functions[N_TARGETS])(unsigned) = {add, triple, turn, keep};

APART static unsigned in_turn(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum = functions[i % N_TARGETS](sum);
	return sum;
}

int main(void)
{
	printf("%u\n", by_chance(ROUNDS) + in_loops(ROUNDS / PERIOD) + in_turn(ROUNDS));
	return 0;
}
