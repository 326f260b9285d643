/* SPDX-License-Identifier: MIT */
/*
 * Libraries fail in three ways when memory is exhausted. GLib's g_malloc() and g_thread_new() log
 * an error; without memory for its text, logging calls itself until the stack is full. The slice
 * allocator of GLib's lists and tables aborts. Other libraries use a null pointer. Nothing here may
 * allocate.
 *
 * libdw and libelf map debug information and large programs. Access to a mapped page beyond the end
 * of a truncated file raises SIGBUS, anywhere in the library.
 */
#include "cli/fatal_faults.h"

#include "base/files/temporary_path.h"
#include "base/quiet_thread.h"
#include "cli/verb.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADVICE "end other programs, raise the limit (ulimit -v), or use fewer threads (--threads 1)"

/* When a mapping of this size fails, memory is exhausted, and that is the cause of the fault. */
enum { PROBE_BYTES = 16 << 20 };

_Noreturn static void end_with(const char *message)
{
	char line[512];

	lode_temporary_paths_remove();
	/* The cursor may be on the line of a progress bar. */
	snprintf(line, sizeof(line), "%slode: %s\n", isatty(STDERR_FILENO) ? "\n" : "", message);
	ssize_t written = write(STDERR_FILENO, line, strlen(line));
	(void)written;
	_exit(LODE_EXIT_FAILED);
}

_Noreturn static void give_up(const char *what)
{
	char message[480];

	snprintf(message, sizeof(message), "out of memory%s%s; " ADVICE, what != NULL ? ": " : "",
		what != NULL ? what : "");
	end_with(message);
}

/* "failed to allocate 64 bytes" of "../glib/gmem.c:136: failed to allocate 64 bytes"; NULL: a
 * different error.
 */
static const char *without_place(const char *message)
{
	static const char *const starts[] = {
		"failed to allocate", "overflow allocating", "creating thread"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
		const char *start = strstr(message, starts[i]);
		if (start != NULL)
			return start;
	}
	return NULL;
}

static void on_message(
	const char *domain, GLogLevelFlags level, const char *message, void *user_data)
{
	const char *what = message != NULL ? without_place(message) : NULL;

	if ((level & G_LOG_LEVEL_ERROR) != 0 && what != NULL)
		give_up(what);
	g_log_default_handler(domain, level, message, user_data);
}

static void on_fault(int signal_number)
{
	/* errno is ENOMEM after GLib's slice allocator fails, not after a failed assertion. */
	bool is_out_of_memory = signal_number == SIGABRT && errno == ENOMEM;
	void *probe = mmap(
		NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (probe == MAP_FAILED || is_out_of_memory)
		give_up(NULL);
	munmap(probe, PROBE_BYTES);
	/* The faulting instruction runs again with the default action, which ends the process. */
	signal(signal_number, SIG_DFL);
}

static void on_bus_error(int signal_number, siginfo_t *information, void *context)
{
	(void)context;
	/* Not an access past the end of a file: sent by a process, or a misaligned access. */
	if (information->si_code != BUS_ADRERR) {
		signal(signal_number, SIG_DFL);
		raise(signal_number);
		return;
	}
	end_with("a program or debug file was cut short while it was being read; run lode again "
		 "when it is complete");
}

void lode_fatal_faults_catch(void)
{
	static const int faults[] = {SIGABRT, SIGSEGV, SIGBUS};
	const struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
	const struct sigaction bus_action = {
		.sa_sigaction = on_bus_error, .sa_flags = SA_ONSTACK | SA_SIGINFO};
	struct sigaction old;

	g_log_set_handler("GLib", G_LOG_LEVEL_MASK | G_LOG_FLAG_FATAL | G_LOG_FLAG_RECURSION,
		on_message, NULL);
	lode_thread_use_handler_stack();
	/* A sanitizer has handlers of its own, with more detail. */
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		if (sigaction(faults[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(faults[i], faults[i] == SIGBUS ? &bus_action : &action, NULL);
}
