/* SPDX-License-Identifier: MIT */
/*
 * All calls of work() cost the same. Of ten, six are by often(), three by seldom() and one by
 * main() itself, through a function that is inlined there: 60, 30 and 10 % of the time, by stacks
 * and by the number of calls.
 */
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

/* A function that calls none sets up no frame. */
__attribute__((noinline)) static void call_nothing(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void work(void)
{
	uint64_t x = 1;

	call_nothing();
	for (int i = 0; i < 1000; i++)
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	sink += x;
}

__attribute__((noinline)) static void often(void)
{
	for (int i = 0; i < 6; i++)
		work();
	sink++;
}

__attribute__((noinline)) static void seldom(void)
{
	for (int i = 0; i < 3; i++)
		work();
	sink++;
}

static inline __attribute__((always_inline)) void inlined(void)
{
	work();
	sink++;
}

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20000; i > 0; i--) {
		often();
		seldom();
		inlined();
	}
	return 0;
}
