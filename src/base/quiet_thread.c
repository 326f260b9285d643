/* SPDX-License-Identifier: MIT */
#include "base/quiet_thread.h"

#include <signal.h>

enum { HANDLER_STACK_BYTES = 1 << 15 };

/* Faults come to the thread that makes them, and kill the process where they are blocked. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

typedef struct {
	GThreadFunc function;
	gpointer data;
} Task;

void lode_thread_use_handler_stack(void)
{
	static _Thread_local char bytes[HANDLER_STACK_BYTES];
	const stack_t stack = {.ss_sp = bytes, .ss_size = sizeof(bytes)};
	stack_t there;

	/* A sanitizer sets one for each thread, and unmaps the one that is set at its end. */
	if (sigaltstack(NULL, &there) == 0 && (there.ss_flags & SS_DISABLE) != 0)
		sigaltstack(&stack, NULL);
}

static gpointer run(gpointer data)
{
	const Task task = *(Task *)data;

	g_free(data);
	lode_thread_use_handler_stack();
	return task.function(task.data);
}

/* A thread begins with the mask of the one that makes it. */
GThread *lode_quiet_thread_new(const char *name, GThreadFunc function, gpointer data)
{
	Task *task = g_new(Task, 1);
	sigset_t quiet, before;

	*task = (Task){function, data};
	sigfillset(&quiet);
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		sigdelset(&quiet, faults[i]);
	pthread_sigmask(SIG_SETMASK, &quiet, &before);
	GThread *thread = g_thread_new(name, run, task);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}
