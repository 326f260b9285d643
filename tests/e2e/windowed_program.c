/* SPDX-License-Identifier: MIT */
/*
 * A program of several threads and processes, each of which works for a second of processor time
 * and prints its id before:
 *
 *   windowed_program             two threads, a forked process, and one that executes "alone"
 *   windowed_program alone       one process, one thread
 *   windowed_program killed      the same, which then kills itself
 *   windowed_program trapped     …by SIGTRAP
 *   windowed_program many N      one that has N children at a time, which wait two seconds
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *work(void *unused)
{
	volatile uint64_t sum = 0;
	struct timespec now;

	(void)unused;
	do {
		for (unsigned i = 0; i < 1000000; i++)
			sum += i % 7 == 3 ? i : 1;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec < 1 && sum > 0);
	return NULL;
}

static void say(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
}

static void wait_for_all(void)
{
	int status = 0;

	while (wait(&status) > 0)
		if (status != 0)
			exit(1);
}

int main(int argc, char **argv)
{
	const char *manner = argc > 1 ? argv[1] : "";
	pthread_t threads[2];

	say();
	if (strcmp(manner, "many") == 0) {
		for (int i = 0; i < atoi(argv[2]); i++)
			if (fork() == 0) {
				sleep(2);
				_exit(0);
			}
		wait_for_all();
		return 0;
	}
	if (argc == 1 && fork() == 0) {
		say();
		work(NULL);
		_exit(0);
	}
	if (argc == 1 && fork() == 0) {
		execl("/proc/self/exe", argv[0], "alone", (char *)NULL);
		_exit(1);
	}
	for (int i = 0; argc == 1 && i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	work(NULL);
	if (strcmp(manner, "killed") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(manner, "trapped") == 0)
		kill(getpid(), SIGTRAP);
	for (int i = 0; argc == 1 && i < 2; i++)
		pthread_join(threads[i], NULL);
	wait_for_all();
	return 0;
}
