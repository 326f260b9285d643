/* SPDX-License-Identifier: MIT
 *
 * After matter-labs/era-shivini pull request #29.
 */
#include "forty.h"
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t counters[64];
#define COUNT(n)                                                                                   \
	static APART void count_##n(const uint8_t *items, int size)                                \
	{                                                                                          \
		for (int i = 0; i < size; i++) {                                                   \
			pthread_mutex_lock(&mutex);                                                \
			counters[(items[i] ^ n) & 63] += (uint64_t)i;                              \
			pthread_mutex_unlock(&mutex);                                              \
		}                                                                                  \
	}
FORTY(COUNT)
static void *nothing(void *argument)
{
	return argument;
}
int main(void)
{
	static uint8_t items[256];
	pthread_t thread;
	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, NULL);
	for (int i = 0; i < 256; i++)
		items[i] = (uint8_t)next_random();
	for (int round = 0; round < 8000; round++) {
#define CALL(n) count_##n(items, 256);
		FORTY(CALL)
	}
	printf("%llu\n", (unsigned long long)counters[7]);
	return 0;
}
