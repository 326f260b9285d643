/* SPDX-License-Identifier: MIT */
/*
 * A signal handler may call few functions, so it only writes the signal's number into a pipe; a
 * thread reads the pipe and does the rest. The state is static because signals belong to the
 * process.
 */
#include "cli/interrupt.h"

#include "base/files/temporary_path.h"
#include "base/quiet_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* timeout(1) sends its signal to us and to our process group: both count as one request. */
enum { ECHO_US = G_USEC_PER_SEC / 4 };

static const int caught_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* These are meant for the program that we run, and must not end us after its end. */
static const int foreign_signals[] = {SIGUSR1, SIGUSR2};

static GCancellable *cancellable;
static int pipe_ends[2];
static int first_signal;
static gint64 first_time_us; /* used by the watcher thread only */

static void on_signal(int signal)
{
	unsigned char byte = (unsigned char)signal;
	int saved = errno;
	ssize_t written = write(pipe_ends[1], &byte, 1);

	(void)written;
	errno = saved;
}

/* Ends the process by the signal itself, so that its parent sees the signal. */
_Noreturn void lode_interrupt_die(int signal_number)
{
	const struct rlimit none = {0, 0};
	sigset_t set;

	/* No core file of lode after a crash of the program that it ran. */
	setrlimit(RLIMIT_CORE, &none);
	signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_number);
	_exit(128 + signal_number);
}

static void *watch(void *data)
{
	unsigned char byte;

	(void)data;
	for (;;) {
		if (read(pipe_ends[0], &byte, 1) != 1)
			continue;
		if (g_atomic_int_compare_and_exchange(&first_signal, 0, byte)) {
			first_time_us = g_get_monotonic_time();
			g_cancellable_cancel(cancellable);
			continue;
		}
		if (g_get_monotonic_time() - first_time_us < ECHO_US)
			continue;
		lode_temporary_paths_remove();
		lode_interrupt_die(byte);
	}
	return NULL;
}

static void do_nothing(int signal)
{
	(void)signal;
}

static void catch_signals(const int *signals, size_t n, void (*handler)(int))
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < n; i++) {
		struct sigaction old;
		/* A signal that was ignored at the start, by nohup(1) for example, stays ignored.
		 */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

static void install(void)
{
	cancellable = g_cancellable_new();
	/* Without a pipe no handlers are installed, and a signal ends the process at once. */
	if (pipe2(pipe_ends, O_CLOEXEC) != 0)
		return;
	g_thread_unref(lode_quiet_thread_new("lode-interrupt", watch, NULL));
	catch_signals(caught_signals, G_N_ELEMENTS(caught_signals), on_signal);
	catch_signals(foreign_signals, G_N_ELEMENTS(foreign_signals), do_nothing);
}

GCancellable *lode_interrupt_cancellable(void)
{
	static gsize is_installed;

	if (g_once_init_enter(&is_installed)) {
		install();
		g_once_init_leave(&is_installed, 1);
	}
	return cancellable;
}

void lode_interrupt_wait(void)
{
	GPollFD ended;

	if (!g_cancellable_make_pollfd(lode_interrupt_cancellable(), &ended))
		return;
	while (g_poll(&ended, 1, -1) < 0 && errno == EINTR)
		;
	g_cancellable_release_fd(lode_interrupt_cancellable());
}

int lode_interrupt_signal(void)
{
	return g_atomic_int_get(&first_signal);
}
