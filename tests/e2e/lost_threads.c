/* SPDX-License-Identifier: MIT */
/*
 * Two threads that take about as long: one counts in a thread-local variable, whose address no
 * register tells, the other adds up its own half of a table.
 *
 *   lost_threads [lost]     lost: both are of the first kind
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 16, SLICE = 1000000 };

static __thread volatile long own_counter;
static volatile long table[N];
static double seconds = 0.6;

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void count_own(void)
{
	for (int i = 0; i < SLICE; i++)
		own_counter++;
}

__attribute__((noinline)) static void add_to_table(void)
{
	for (int i = 0; i < SLICE; i++)
		table[i * 8 % N]++;
}

static void *work(void *data)
{
	void (*step)(void) = data != NULL ? count_own : add_to_table;

	while (cpu_seconds() < seconds)
		step();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int is_lost = argc > 1 && strcmp(argv[1], "lost") == 0;

	pthread_create(&threads[0], NULL, work, threads);
	pthread_create(&threads[1], NULL, work, is_lost ? threads : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
