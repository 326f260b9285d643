/* SPDX-License-Identifier: MIT */
/* Opened and closed by the program of odd kinds. */
#include <stdint.h>

static __thread int n_calls;
static int n_begun;

__attribute__((constructor)) static void begin(void)
{
	n_begun++;
}

__attribute__((destructor)) static void end(void)
{
	n_begun--;
}

int odd_library_call(int n);
int odd_library_call(int n)
{
	volatile uint32_t state = (uint32_t)n;
	for (int i = 0; i < 10000; i++)
		state = state * 1664525 + 1013904223;
	n_calls++;
	return n + n_begun + (n_calls > 0);
}
