/* SPDX-License-Identifier: MIT */
/*
 * Threads that no signal comes to. A signal for the process goes to any thread that lets it in;
 * who waits for one (record/child.h, for SIGCHLD) would wait for ever when a worker takes it first.
 */
#pragma once

#include <glib.h>

/* As g_thread_new(), with all signals blocked in the thread from its beginning. */
GThread *lode_quiet_thread_new(const char *name, GThreadFunc function, gpointer data);
