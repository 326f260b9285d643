/* SPDX-License-Identifier: MIT */
/*
 * The signals are blocked and waited for together with SIGCHLD (sigwaitinfo(2)). So nothing needs a
 * handler or state outside this call, and no signal is missed between a check and a wait.
 */
#include "record/programs/child.h"

#include "base/error.h"
#include "record/programs/child_reports.h"
#include "record/programs/stop_requests.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

static const int forwarded_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

static bool is_ignored(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Ignored signals (nohup, a script's background job) stay so; blocking would make them arrive. */
static void waited_signals(sigset_t *out_set)
{
	sigemptyset(out_set);
	sigaddset(out_set, SIGCHLD);
	for (size_t i = 0; i < G_N_ELEMENTS(forwarded_signals); i++)
		if (!is_ignored(forwarded_signals[i]))
			sigaddset(out_set, forwarded_signals[i]);
}

/* The child has the personality that we have meanwhile: posix_spawn() has no attribute for it. */
static int spawn_at(const LodeChildOptions *options, pid_t *out_pid,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes)
{
	char *const *environment = options->environment != NULL
	                                   ? (char *const *)options->environment
	                                   : environ;
	int ours = options->has_fixed_addresses ? personality(UINT32_MAX) : -1;

	if (ours >= 0)
		personality((unsigned long)ours | ADDR_NO_RANDOMIZE);
	int code = posix_spawn(out_pid, options->argv[0], actions, attributes,
		(char *const *)options->argv, environment);
	if (ours >= 0)
		personality((unsigned long)ours);
	return code;
}

static bool spawn(
	const LodeChildOptions *options, const sigset_t *mask, pid_t *out_pid, GError **error)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;

	posix_spawn_file_actions_init(&actions);
	if (options->is_silent && isatty(STDIN_FILENO))
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	for (int i = STDOUT_FILENO; options->is_silent && i <= STDERR_FILENO; i++)
		posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_WRONLY, 0);

	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	int code = spawn_at(options, out_pid, &actions, &attributes);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (code == 0)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_IO, "cannot start '%s': %s", options->argv[0],
		g_strerror(code));
	return false;
}

static void wait_for_end(const sigset_t *set, const LodeNotes *notes, LodeChildEnd *end)
{
	LodeStopRequests requests = {.notes = *notes};
	siginfo_t info;

	for (;;) {
		int signal = sigwaitinfo(set, &info);
		if (signal < 0)
			continue;
		/* si_code > 0 is the kernel's (sigaction(2)): the terminal has signalled the child
		 * as well. SIGCHLD comes also when the child is stopped or goes on. */
		if (signal != SIGCHLD)
			lode_stop_requests_take(&requests, end->pid, signal, info.si_code <= 0);
		else if (lode_child_reports_take(end->pid, &end->status, NULL))
			break;
	}
	lode_stop_requests_wait(&requests, end->status);
	end->stop_signal = lode_stop_requests_signal(&requests, end->status);
}

bool lode_child_run(const LodeChildOptions *options, LodeChildEnd *out_end, GError **error)
{
	struct sigaction default_action = {.sa_handler = SIG_DFL}, child_action;
	LodeChildEnd end = {0};
	sigset_t set, old_mask;

	/* Where SIGCHLD is ignored the kernel reaps the child and its status is lost. */
	sigaction(SIGCHLD, &default_action, &child_action);
	waited_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, &old_mask);
	bool is_started = spawn(options, &old_mask, &end.pid, error);
	if (is_started)
		wait_for_end(&set, &options->notes, &end);
	pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
	sigaction(SIGCHLD, &child_action, NULL);
	if (is_started)
		*out_end = end;
	return is_started;
}
