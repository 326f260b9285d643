/* SPDX-License-Identifier: MIT */
#include "odd.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const OddKind *const tables[] = {odd_signals, odd_traps, odd_waits, odd_threads, odd_locks,
	odd_processes, odd_limits, odd_stacks, odd_flags, odd_numbers, odd_code, odd_crashes};
enum { N_TABLES = sizeof tables / sizeof *tables };

const char *odd_stage;
static const char *percent = "100";

long odd_rounds(long n)
{
	long part = n * atol(percent) / 100;
	return part < 1 ? 1 : part;
}

__attribute__((noinline)) uint64_t odd_work(uint64_t seed, long n)
{
	uint64_t state = seed + 1;
	for (long i = 0; i < n; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		if (state >> 63)
			state ^= state >> 17;
		else
			state += (uint64_t)i;
	}
	return state;
}

void odd_execute(const char *kind, const char *stage)
{
	execl("/proc/self/exe", "odd", kind, percent, stage, NULL);
}

void odd_handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	sigaction(signal, &action, NULL);
}

void odd_handle_info(int signal, void (*handler)(int, void *, void *), int flags)
{
	struct sigaction action = {.sa_flags = flags | SA_SIGINFO};
	memcpy(&action.sa_sigaction, &handler, sizeof handler);
	sigaction(signal, &action, NULL);
}

void odd_wait(pid_t child, const char *name)
{
	int status = 0;
	if (child < 0 || waitpid(child, &status, 0) != child)
		printf("%s: no child\n", name);
	else if (WIFEXITED(status))
		printf("%s: status %d\n", name, WEXITSTATUS(status));
	else
		printf("%s: signal %d%s\n", name, WTERMSIG(status),
			WCOREDUMP(status) ? ", core dumped" : "");
}

void odd_wrong(const char *what, const char *file, int line)
{
	static int n;
	if (__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) < 10)
		printf("%s:%d: not so: %s\n", file, line, what);
}

int main(int argc, char **argv)
{
	bool is_list = argc == 2 && strcmp(argv[1], "--list") == 0;
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 2)
		percent = argv[2];
	if (argc > 3)
		odd_stage = argv[3];
	for (int i = 0; i < N_TABLES && argc > 1; i++) {
		for (const OddKind *kind = tables[i]; kind->name != NULL; kind++) {
			if (is_list)
				printf("%s %s\n", kind->name,
					kind->note != NULL ? kind->note : "some");
			else if (strcmp(kind->name, argv[1]) == 0)
				return kind->run();
		}
	}
	if (!is_list)
		fprintf(stderr, "usage: odd KIND [PERCENT] | --list\n");
	return is_list ? 0 : 2;
}
