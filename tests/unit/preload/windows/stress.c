/* SPDX-License-Identifier: MIT */
/*
 * Does all at once what could take the trap flag to where it must not be: threads, children, jumps
 * out of handlers, alternate stacks, masks. Prints what it found, the same with the library that
 * steps as without.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 4, EACH = 5, STACK = 16384 };

static sigjmp_buf back;
static unsigned jumps;

static void jump_back(int number)
{
	(void)number;
	jumps++;
	siglongjmp(back, 1);
}

static void count(int number)
{
	(void)number;
}

static uint32_t work(uint32_t n)
{
	uint32_t x = 1;

	for (uint32_t i = 0; i < n; i++) {
		x = x * 1103515245 + 12345;
		if ((x >> 16 & 1) != 0)
			x ^= i;
	}
	return x;
}

static bool has_alternate_stack(void)
{
	stack_t there;

	return sigaltstack(NULL, &there) != 0 || (there.ss_flags & SS_DISABLE) == 0;
}

static void *run_thread(void *argument)
{
	uintptr_t sum = has_alternate_stack();
	stack_t own = {.ss_size = STACK, .ss_sp = malloc(STACK)}, seen;

	if ((uintptr_t)argument % 2 == 0) {
		sum += sigaltstack(&own, NULL) != 0;
		sum += sigaltstack(NULL, &seen) != 0 || seen.ss_sp != own.ss_sp;
		sum += work(300000);
		own.ss_flags = SS_DISABLE;
		sum += sigaltstack(&own, NULL) != 0;
		sum += has_alternate_stack();
	}
	free(own.ss_sp);
	sum += work(300000);
	if ((uintptr_t)argument % 3 == 0)
		pthread_exit((void *)sum);
	return (void *)sum;
}

static uint64_t run_threads(void)
{
	pthread_t threads[THREADS];
	uint64_t sum = 0;

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run_thread, (void *)i) != 0)
			exit(1);
	for (int i = 0; i < THREADS; i++) {
		void *result;
		pthread_join(threads[i], &result);
		sum += (uintptr_t)result;
	}
	return sum;
}

static uint64_t run_children(void)
{
	char *words[] = {"true", NULL};
	uint64_t sum = 0;

	for (int i = 0; i < EACH; i++) {
		int status;
		pid_t child = fork();
		if (child == 0)
			_exit(work(100000) & 7);
		waitpid(child, &status, 0);
		sum += (unsigned)status;
		if (posix_spawnp(&child, "true", NULL, NULL, words, environ) != 0)
			exit(1);
		waitpid(child, &status, 0);
		sum += (unsigned)status;
	}
	return sum;
}

static void run_jumps(void)
{
	const struct itimerval once = {{0, 0}, {0, 3000}};

	for (volatile int i = 0; i < EACH; i++)
		if (sigsetjmp(back, 1) == 0) {
			setitimer(ITIMER_REAL, &once, NULL);
			for (;;)
				work(1000);
		}
}

static uint64_t run_masked(void)
{
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	uint64_t sum = work(100000);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return sum;
}

int main(void)
{
	const struct sigaction jump = {.sa_handler = jump_back}, tick = {.sa_handler = count};
	const struct itimerval often = {{0, 1700}, {0, 1700}};
	struct sigaction trap;
	uint64_t sum = 0;

	sigaction(SIGALRM, &jump, NULL);
	sigaction(SIGVTALRM, &tick, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		sum += run_threads() + run_children() + run_masked();
		run_jumps();
	}
	sigaction(SIGTRAP, NULL, &trap);
	printf("%llu %u %d\n", (unsigned long long)sum, jumps, trap.sa_handler == SIG_DFL);
	return 0;
}
