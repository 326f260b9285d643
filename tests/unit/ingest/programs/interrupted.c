/* SPDX-License-Identifier: MIT */
/*
 * Known numbers of executions in spite of signals: a loop that an alarm interrupts, a store that
 * faults and is made again, a fault that nobody returns from, and threads that count at once.
 * Prints how many alarms were handled.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { FAULTS = 1000, LONG_JUMPS = 10, STEPS = 3000000, THREADS = 3, CALLS = 20000 };

static volatile long n_alarms;
static char *page;
static sigjmp_buf back;

void on_alarm(int signal)
{
	(void)signal;
	n_alarms++;
}

void on_fault(int signal)
{
	(void)signal;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

void on_error(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

__attribute__((noinline)) long spin(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += (i * i) ^ (sum >> 3);
	return sum;
}

/* The first instruction faults, what comes after it stands in the same block. */
__attribute__((noinline)) void touch(char *at, char value)
{
	__asm__ volatile("movb %1, (%0)\n"
			 "nop\n"
			 "movb %1, 1(%0)\n" ::"r"(at),
			 "q"(value)
			 : "memory");
}

__attribute__((noinline)) void leave(void)
{
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("ud2\nnop\n");
}

__attribute__((noinline)) void call(volatile long *n)
{
	++*n;
}

static void *run_thread(void *data)
{
	volatile long n = 0;

	for (int i = 0; i < CALLS; i++)
		call(&n);
	return data;
}

int main(void)
{
	const struct itimerval every_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	pthread_t threads[THREADS];
	long sum;

	signal(SIGALRM, on_alarm);
	signal(SIGSEGV, on_fault);
	signal(SIGILL, on_error);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	setitimer(ITIMER_REAL, &every_ms, NULL);
	sum = spin(STEPS);
	for (int i = 0; i < FAULTS; i++) {
		mprotect(page, 4096, PROT_READ);
		touch(page, (char)sum);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < LONG_JUMPS; i++)
		leave();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", n_alarms);
	return 0;
}
