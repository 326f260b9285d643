/* SPDX-License-Identifier: MIT */
/*
 * Threads that no signal comes to. A signal for the process goes to any thread that lets it in;
 * who waits for one (record/programs/child.h, for SIGCHLD) would wait for ever when a worker takes
 * it first.
 */
#pragma once

#include <glib.h>

/*
 * As g_thread_new(), with all signals blocked in the thread from its beginning, except those of its
 * own faults. It uses a handler stack.
 */
GThread *lode_quiet_thread_new(const char *name, GThreadFunc function, gpointer data);

/* Handlers with SA_ONSTACK that run in this thread do so also when its stack is full. */
void lode_thread_use_handler_stack(void);
