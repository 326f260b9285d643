/* SPDX-License-Identifier: MIT */
/*
 * What happens to programs that are traced: traced_program WAY [ARGUMENT]; see main().
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CELLS = 1024, THREADS = 4, SPINS = 40, ALARMS = 5, ALARM_US = 1000 };

static volatile sig_atomic_t n_signals;
static atomic_int n_full, n_read;
static volatile long sum;
static volatile int *cells;
static volatile int *volatile nowhere = (volatile int *)8;
static volatile int zero;

static void count_signal(int signal)
{
	(void)signal;
	n_signals++;
}

__attribute__((noinline)) static long fibonacci(long n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* By a locked instruction, as taking a mutex is. */
static bool is_full(int cell)
{
	int expected = cell + 1;

	return atomic_compare_exchange_strong(&n_full, &expected, cell + 1) || expected > cell;
}

/* Waits for each cell to be told full, then reads it. */
static void *read_cells(void *argument)
{
	(void)argument;
	prctl(PR_SET_NAME, "cell-reader");
	for (int i = 0; i < CELLS; i++) {
		while (!is_full(i))
			sched_yield();
		sum += cells[i];
		atomic_fetch_add(&n_read, 1);
	}
	return NULL;
}

/* At first without anything that says to others where it is. */
static void wait_for_readers(int n)
{
	for (int i = 0; atomic_load(&n_read) < n; i++)
		if (i > SPINS)
			sched_yield();
}

/* The address of the cells is printed: whoever reads one reads it behind its store. */
static int hand_over(void)
{
	pthread_t readers[THREADS];

	cells = mmap(NULL, CELLS * sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	printf("%p\n", (void *)cells);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&readers[i], NULL, read_cells, NULL);
	for (int i = 0; i < CELLS; i++) {
		cells[i] = i;
		atomic_store(&n_full, i + 1);
		wait_for_readers((i + 1) * THREADS);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(readers[i], NULL);
	return 3;
}

static int make_child(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		fibonacci(20);
		_exit(4);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status) + 1;
}

static int take_signals(void)
{
	signal(SIGALRM, count_signal);
	while (n_signals < ALARMS) {
		ualarm(ALARM_US, 0);
		fibonacci(5);
	}
	return 7;
}

/* Tells that it is ready, and waits for SIGINT. */
static int wait_for_interrupt(void)
{
	signal(SIGINT, count_signal);
	puts("ready");
	fflush(stdout);
	while (n_signals == 0)
		fibonacci(5);
	return 9;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(way, "threads") == 0)
		return hand_over();
	if (strcmp(way, "fault") == 0)
		*nowhere = 1;
	if (strcmp(way, "divide") == 0)
		__asm__ volatile("xor %%edx,%%edx; idivl (%%rcx); nop; nop; nop" ::"c"(&zero)
				 : "rax", "rdx", "cc");
	if (strcmp(way, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(way, "fork") == 0)
		return make_child();
	if (strcmp(way, "exec") == 0)
		execl("/bin/echo", "echo", "another program", NULL);
	if (strcmp(way, "no-exec") == 0)
		return execl("/no/such/program", "x", NULL) == -1 ? 6 : 0;
	if (strcmp(way, "signals") == 0)
		return take_signals();
	if (strcmp(way, "interrupt") == 0)
		return wait_for_interrupt();
	if (strcmp(way, "long") == 0 && argc > 2) {
		puts("begun");
		printf("%ld\n", fibonacci(atol(argv[2])));
		return 0;
	}
	return 1;
}
