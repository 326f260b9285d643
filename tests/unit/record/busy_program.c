/* SPDX-License-Identifier: MIT */
/*
 * Works for as many milliseconds of processor time as its argument says in each of three threads
 * and a child, which then executes a shell; with a second argument in one thread alone. Ends with
 * status 5.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long work_ms;
static volatile unsigned sum;

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *spin(void *data)
{
	long end_ms = now_ms() + work_ms;

	while (now_ms() < end_ms)
		for (unsigned i = 0; i < 100000; i++)
			sum += i * i;
	return data;
}

int main(int argc, char **argv)
{
	int n_threads = argc > 2 ? 1 : 3;
	pthread_t threads[3];

	work_ms = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	for (int i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, spin, NULL);
	pid_t child = argc > 2 ? -1 : fork();
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
