/* SPDX-License-Identifier: MIT */
#include "base/quiet_thread.h"

#include <signal.h>

/* A thread begins with the mask of the one that makes it. */
GThread *lode_quiet_thread_new(const char *name, GThreadFunc function, gpointer data)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	GThread *thread = g_thread_new(name, function, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}
