/* SPDX-License-Identifier: MIT */
/*
 * Works for as many milliseconds of processor time as its first argument says in each of three
 * threads and a child, which then executes a shell. Ends with status 5. Further arguments:
 *
 *   alone   in one thread alone
 *   calm    each sleeps nine tenths of the time, where a test waits for the time to pass
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long work_ms;
static bool is_calm;
static volatile unsigned sum;

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *spin(void *data)
{
	long last_ms = now_ms(), end_ms = last_ms + work_ms;

	for (long time_ms = last_ms; time_ms < end_ms; time_ms = now_ms()) {
		for (unsigned i = 0; i < 100000; i++)
			sum += i * i;
		if (is_calm && time_ms > last_ms) {
			nanosleep(
				&(struct timespec){.tv_nsec = 9000000 * (time_ms - last_ms)}, NULL);
			last_ms = time_ms;
		}
	}
	return data;
}

int main(int argc, char **argv)
{
	bool is_alone = false;
	pthread_t threads[3];

	work_ms = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	for (int i = 2; i < argc; i++) {
		is_alone |= strcmp(argv[i], "alone") == 0;
		is_calm |= strcmp(argv[i], "calm") == 0;
	}
	int n_threads = is_alone ? 1 : 3;
	for (int i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, spin, NULL);
	pid_t child = is_alone ? -1 : fork();
	if (child == 0) {
		spin(NULL);
		execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done",
			NULL);
		_exit(1);
	}
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	if (child > 0)
		waitpid(child, NULL, 0);
	return 5;
}
