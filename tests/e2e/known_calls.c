/* SPDX-License-Identifier: MIT */
/*
 * Of the time in work(), 60 % are for often(), 30 % for seldom() and 10 % for main() itself,
 * through a function that is inlined there. As many calls are made for each.
 */
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

/* A function that calls none sets up no frame. */
__attribute__((noinline)) static void call_nothing(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void work(uint64_t n)
{
	uint64_t x = 1;

	call_nothing();
	for (uint64_t i = 0; i < n; i++)
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	sink += x;
}

__attribute__((noinline)) static void often(void)
{
	work(6000);
	sink++;
}

__attribute__((noinline)) static void seldom(void)
{
	work(3000);
	sink++;
}

static inline __attribute__((always_inline)) void inlined(void)
{
	work(1000);
	sink++;
}

int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 20000; i > 0; i--) {
		often();
		seldom();
		inlined();
	}
	return 0;
}
