/* SPDX-License-Identifier: MIT */
/*
 * A function that is called on two ways, of which it waits on one three times as often: what says
 * who calls tells the shares apart.
 *
 *   main ── often ── (twice, inlined) ──▶ look_up      3 of 4
 *        └─ deep ── deep ── seldom ────▶ look_up      1 of 4
 *
 * Neither comes to the same places again, which would be in a cache by then: rounds begin at
 * others, and the counter in each sum keeps it from going in circles.
 */
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 23, ROUNDS = 100, STEPS = 12000 };

static unsigned *table;
static unsigned start; /* another in each round */

__attribute__((noinline, noclone)) unsigned look_up(unsigned i)
{
	return table[i & (SIZE - 1)];
}

static inline __attribute__((always_inline)) unsigned twice(unsigned i)
{
	return look_up(look_up(i) + i);
}

__attribute__((noinline, noclone)) unsigned often(unsigned n)
{
	unsigned at = start;

	for (unsigned i = 0; i < 3 * n / 2; i++)
		at = at * 1103515245u + twice(at) + i;
	return at;
}

__attribute__((noinline, noclone)) unsigned seldom(unsigned n)
{
	unsigned at = start;

	for (unsigned i = 0; i < n; i++)
		at = at * 1103515245u + look_up(at) + i;
	return at;
}

__attribute__((noinline, noclone)) unsigned deep(unsigned level, unsigned n)
{
	volatile unsigned kept[100]; /* a frame that a few hundred bytes of the stack do not reach
	                                over */

	kept[level] = level;
	return (level == 0 ? seldom(n) : deep(level - 1, n)) + kept[level];
}

int main(void)
{
	unsigned sum = 0;

	table = malloc(SIZE * sizeof(*table));
	for (unsigned i = 0; i < SIZE; i++)
		table[i] = i * 2654435761u >> 3;
	for (unsigned i = 0; i < ROUNDS; i++) {
		start = sum + i * 2654435761u;
		sum += often(STEPS) + deep(1, STEPS);
	}
	printf("%u\n", sum);
	free(table);
	return 0;
}
