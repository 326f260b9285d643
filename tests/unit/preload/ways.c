/* SPDX-License-Identifier: MIT */
/*
 * Blocks whose size is the way to them: its digits, of base 4 and the outermost first, after a 1,
 * are the functions that were called. Different ways come through the same addresses of the stack,
 * with frames of a fixed and of any size; two threads do so at once.
 */
#include <pthread.h>
#include <stdlib.h>

enum { DEPTH = 5, N_WAYS = 1 << (2 * DEPTH), N_BLOCKS = 30000 };

static void *next(unsigned way, int depth);

/* The test finds them by the lines of their calls. */
__attribute__((noinline)) static void *digit_0(unsigned way, int depth)
{
	void *volatile block = next(way, depth);
	return block;
}

__attribute__((noinline)) static void *digit_1(unsigned way, int depth)
{
	void *volatile block = next(way, depth);
	return block;
}

/* Its frame is found by the frame pointer. */
__attribute__((noinline)) static void *digit_2(unsigned way, int depth)
{
	volatile char *room = __builtin_alloca(16 + way % 7 * 16);
	room[0] = 1;
	void *volatile block = next(way, depth);
	return block;
}

__attribute__((noinline)) static void *digit_3(unsigned way, int depth)
{
	volatile char room[64];
	room[depth] = 1;
	void *volatile block = next(way, depth);
	return block;
}

__attribute__((noinline)) static void *next(unsigned way, int depth)
{
	static void *(*const digits[])(unsigned, int) = {digit_0, digit_1, digit_2, digit_3};

	if (depth == 0) {
		void *volatile block = malloc(N_WAYS + way);
		return block;
	}
	void *volatile block = digits[way >> (2 * (depth - 1)) & 3](way, depth - 1);
	return block;
}

static void *walk(void *seed)
{
	unsigned *at = seed;

	for (int i = 0; i < N_BLOCKS; i++) {
		*at = *at * 1103515245 + 12345;
		free(next(*at >> 16 & (N_WAYS - 1), DEPTH));
	}
	return NULL;
}

int main(void)
{
	unsigned seeds[] = {1, 2};
	pthread_t thread;

	if (pthread_create(&thread, NULL, walk, &seeds[1]) != 0)
		return 1;
	walk(&seeds[0]);
	return pthread_join(thread, NULL);
}
