/* SPDX-License-Identifier: MIT */
#include "record/programs/stop_requests.h"

#include <signal.h>
#include <sys/wait.h>

/* A second one sooner is the same request: timeout(1) sends it to us and to our process group. */
enum { ECHO_US = G_USEC_PER_SEC / 4 };

/* Between the two signals of one Ctrl-C, on a busy machine. */
enum { LATE_MS = 200 };

/* Ctrl-C as a command, such as in an interpreter, is not repeated so soon. */
enum { REPEAT_US = 10 * G_USEC_PER_SEC };

static void end_harder(LodeStopRequests *self, pid_t pid)
{
	int signal = self->has_sent_term ? SIGKILL : SIGTERM;

	lode_notes_add(&self->notes, "asked again, the program is ended by %s%s",
		signal == SIGKILL ? "SIGKILL" : "SIGTERM",
		signal == SIGKILL ? "" : "; once more ends it by SIGKILL");
	self->has_sent_term = true;
	kill(pid, signal);
}

static void take_request(LodeStopRequests *self, pid_t pid, int signal)
{
	gint64 now_us = g_get_monotonic_time(), passed_us = now_us - self->last_us;
	bool is_first = self->last_us == 0 || passed_us > REPEAT_US;

	if (!is_first && passed_us < ECHO_US)
		return;
	self->last_us = now_us;
	/* the first Ctrl-C was the program's; a second one means us too */
	if (signal == SIGINT && self->was_interrupted && self->stop_signal == 0)
		self->stop_signal = SIGINT;
	if (!is_first && pid > 0)
		end_harder(self, pid);
}

void lode_stop_requests_take(
	LodeStopRequests *self, pid_t pid, int signal, bool was_sent_by_process)
{
	if (was_sent_by_process && pid > 0)
		kill(pid, signal);
	if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP)
		return;
	take_request(self, pid, signal);
	if (signal == SIGINT)
		self->was_interrupted = true;
	else
		self->stop_signal = signal;
	/* it has that one already: the next is SIGKILL */
	self->has_sent_term |= signal == SIGTERM;
}

void lode_stop_requests_end(LodeStopRequests *self, pid_t pid)
{
	self->has_sent_term = true;
	kill(pid, SIGTERM);
}

void lode_stop_requests_wait(LodeStopRequests *self, int status)
{
	const struct timespec limit = {.tv_nsec = LATE_MS * 1000000L};
	bool has_died_of_it = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
	bool was_in_shell = WIFEXITED(status) &&
	                    WEXITSTATUS(status) == LODE_SHELL_BY_SIGNAL + SIGINT;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	if ((has_died_of_it || was_in_shell) && !self->was_interrupted &&
		sigtimedwait(&set, NULL, &limit) == SIGINT)
		lode_stop_requests_take(self, 0, SIGINT, false);
}

int lode_stop_requests_signal(const LodeStopRequests *self, int status)
{
	/* As shells do: where the program took Ctrl-C as a command and ended of its own accord,
	 * what comes after it goes on. */
	bool has_died_of_it = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;

	return self->stop_signal == SIGINT && !has_died_of_it ? 0 : self->stop_signal;
}
