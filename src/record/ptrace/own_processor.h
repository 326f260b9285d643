/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: the processor that lode's own thread runs on. From a traced thread's own one
 * a step takes a third of the time, a stop a fifth, and the stop comes where lode's timer was due:
 *
 *   from another processor   asked ├─ interruption, some 50 µs ─┬─▶ or the end of a system call
 *   from its own             due ├─▶ the thread is off the processor: asked, it stops there
 *
 * Only lode's thread is moved, never the program's.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>

typedef struct {
	cpu_set_t allowed; /* where it may run */
	int at;            /* where it stays; −1: where the kernel puts it */
} LodeOwnProcessor;

void lode_own_processor_init(LodeOwnProcessor *self);

/* Whether it may go to a processor. −1: no. */
bool lode_own_processor_may_go(const LodeOwnProcessor *self, int processor);

/* Goes to a processor and stays there; −1: goes where the kernel puts it. False: it may not. */
bool lode_own_processor_go(LodeOwnProcessor *self, int processor);

/* Works on other ones for a while, if there are any, until it goes to one again. */
void lode_own_processor_leave(LodeOwnProcessor *self);

/* Facts from the text of /proc/PID/task/TID/stat (proc(5)). */
typedef struct {
	int processor; /* on which it ran last; −1: unknown, or the thread's scheduling is that
	                  of real time: lode beside it would not run as long as it does */
	double kernel_share; /* of its processor time; 0: unknown */
} LodeThreadStat;

LodeThreadStat lode_thread_stat(const char *text);
