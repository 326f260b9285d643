/* SPDX-License-Identifier: MIT */
/* Four threads: each begins after a system call that it did not make. */
#include <pthread.h>
#include <stdio.h>

static void *add(void *data)
{
	long sum = 0;

	for (long i = 0; i < 1000; i++)
		sum += i ^ (long)data;
	return (void *)sum;
}

int main(void)
{
	pthread_t threads[4];
	long sum = 0;

	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, add, (void *)i);
	for (int i = 0; i < 4; i++) {
		void *result;
		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	printf("%ld\n", sum);
	return 0;
}
