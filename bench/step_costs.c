/* SPDX-License-Identifier: MIT */
/*
 * The parts of the cost of stepping. bench/stepping.sh runs it with the library that steps and
 * without.
 *
 *   step_costs trap N              N steps with a handler that does nothing: ns each
 *   step_costs signal N            N signals like those at which a window may begin: ns each,
 *                                  with the sending
 *   step_costs spawn N PROGRAM…    executes it N times: µs of processor time each
 *   step_costs fork N              N children that end at once: likewise
 *   step_costs work N              N rounds through 1 MiB with branches both ways: ms
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double cpu_ns(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e9 +
	       ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) * 1e3;
}

static void do_nothing(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
}

static void handle_traps(void)
{
	const struct sigaction action = {
		.sa_sigaction = do_nothing, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigaction(SIGTRAP, &action, NULL);
}

/* Two steps a round. */
static void step(long n)
{
	long rounds = n / 2;

	handle_traps();
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq\n"
			 "1: dec %0; jnz 1b\n"
			 "pushfq; andq $~0x100, (%%rsp); popfq"
			 : "+r"(rounds)
			 :
			 : "cc", "memory");
}

/* "lode", as the data of lode's signals. */
static void send_signals(long n)
{
	siginfo_t info = {.si_code = SI_TIMER};

	info.si_value.sival_ptr = (void *)0x65646f6cUL;
	if (getenv("LODE_WINDOWS") == NULL)
		handle_traps();
	for (long i = 0; i < n; i++)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGTRAP, &info);
}

static void spawn(long n, char **program)
{
	for (long i = 0; i < n; i++) {
		pid_t child;
		if (posix_spawn(&child, program[0], NULL, NULL, program, environ) != 0)
			exit(1);
		waitpid(child, NULL, 0);
	}
}

static void fork_children(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

static void work(long n)
{
	enum { WORDS = 1 << 18 };
	static uint32_t words[WORDS];
	uint64_t x = 1;

	for (long i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		uint32_t *word = &words[x >> 33 & (WORDS - 1)];
		if ((*word & 1) != 0)
			*word += (uint32_t)(x >> 40);
		else
			*word ^= (uint32_t)(x >> 41) | 1;
	}
}

int main(int n_words, char **words)
{
	const char *what = n_words > 2 ? words[1] : "";
	long n = n_words > 2 ? atol(words[2]) : 0;
	double begin = cpu_ns(RUSAGE_SELF);

	if (n <= 0)
		return 2;
	if (strcmp(what, "trap") == 0)
		step(n);
	else if (strcmp(what, "signal") == 0)
		send_signals(n);
	else if (strcmp(what, "spawn") == 0 && n_words > 3)
		spawn(n, words + 3);
	else if (strcmp(what, "fork") == 0)
		fork_children(n);
	else
		work(n);
	if (strcmp(what, "spawn") == 0 || strcmp(what, "fork") == 0)
		printf("%.1f\n", cpu_ns(RUSAGE_CHILDREN) / 1e3 / (double)n);
	else if (strcmp(what, "work") == 0)
		printf("%.1f\n", (cpu_ns(RUSAGE_SELF) - begin) / 1e6);
	else
		printf("%.0f\n", (cpu_ns(RUSAGE_SELF) - begin) / (double)n);
	return 0;
}
