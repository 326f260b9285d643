/* SPDX-License-Identifier: MIT */
#include "forty.h"
#include <pthread.h>
#include <stdatomic.h>
static _Atomic uint64_t total;
#define WORK(n)                                                                                    \
	static APART uint64_t work_##n(uint64_t state)                                             \
	{                                                                                          \
		uint64_t mine = 0;                                                                 \
		for (int i = 0; i < 100; i++) {                                                    \
			state = (state ^ state >> 9) * 0x9e3779b97f4a7c15u + n;                    \
			mine += state >> 60;                                                       \
		}                                                                                  \
		atomic_fetch_add(&total, mine);                                                    \
		return state;                                                                      \
	}
FORTY(WORK)
static void *run(void *argument)
{
	uint64_t state = (uint64_t)(uintptr_t)argument;
	for (int round = 0; round < 30000; round++) {
#define CALL(n) state = work_##n(state);
		FORTY(CALL)
	}
	return (void *)(uintptr_t)state;
}
int main(void)
{
	pthread_t threads[2];
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%llu\n", (unsigned long long)total);
	return 0;
}
