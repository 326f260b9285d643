/* SPDX-License-Identifier: MIT */
/*
 * Prepares each thread for being stepped: with a stack for the handler, as its own may be small or
 * have data below the pointer, and with the timer where there is no event. A thread that was made
 * by a plain clone() has neither, and no windows.
 *
 *   the program has set none     ours, which it is not told of
 *   it has set one               its own, when that is large enough; else SIGTRAP is blocked
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The fs base of the thread that calls, which may be anything in a program that sets it itself. No
 * two threads that are known have the same.
 */
uintptr_t thread_pointer(void);

/* Whether it is the pointer of a thread that is known. */
bool thread_is_known(uintptr_t pointer);

/* Whether the program believes that SIGTRAP, among all signals, is blocked in this thread. */
bool thread_is_masked(void);
void thread_set_masked(bool is_masked);

/* Whether we have blocked SIGTRAP in this thread. */
bool thread_is_blocked(void);

/* Whether the process has, or had, threads beside this one. */
bool threads_has_others(void);

/* For the thread that calls; `is_timed`: threads have timers. */
void threads_begin(bool is_timed);

/* In the child of a fork: of all threads there is only the one that calls. */
void threads_begin_child(void);

/* No more timers. */
void threads_stop_timers(void);
