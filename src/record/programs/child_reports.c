/* SPDX-License-Identifier: MIT */
#include "record/programs/child_reports.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/*
 * A traced program gets SIGTRAP when it executes a file, which no untraced one does. It looks like
 * one that the program has sent to itself by kill(2).
 */
static bool is_of_exec(pid_t pid, int signal)
{
	siginfo_t info;

	return signal == SIGTRAP && ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) == 0 &&
	       info.si_code == SI_USER && info.si_pid == pid;
}

/*
 * Detached from rather than continued: a traced program could not be stopped by SIGSTOP or Ctrl-Z,
 * and each of its signals would take a switch to us. A child that we do not trace is left alone.
 */
static void let_go(pid_t pid, int signal)
{
	uintptr_t passed = is_of_exec(pid, signal) ? 0 : (uintptr_t)signal;

	ptrace(PTRACE_DETACH, pid, NULL, (void *)passed);
}

/* All children, as threads of the program may trace themselves too: their ends come to us as well,
 * and without them the program never ends. */
bool lode_child_reports_take(pid_t pid, int *out_status, struct rusage *out_usage)
{
	struct rusage usage;
	bool has_ended = false;
	int status;
	pid_t reported;

	while ((reported = wait4(-1, &status, WNOHANG | __WALL | __WNOTHREAD, &usage)) > 0) {
		if (WIFSTOPPED(status))
			let_go(reported, WSTOPSIG(status));
		if (reported != pid || (!WIFEXITED(status) && !WIFSIGNALED(status)))
			continue;
		has_ended = true;
		*out_status = status;
		if (out_usage != NULL)
			*out_usage = usage;
	}
	return has_ended;
}
