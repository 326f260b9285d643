/* SPDX-License-Identifier: MIT */
/*
 * What each thread needs so that it may be stepped: a stack for the handler, as its own may be
 * small or be kept below the pointer, and the timer where there is no event. A thread that was made
 * behind our back has neither, and no windows.
 *
 *   the program has set none     ours, which it is not told of
 *   it has set one               its own, when that is large enough; else SIGTRAP is blocked
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Of the thread that calls: its fs base, which may be anything in a program that sets it itself. No
 * two threads that are known have the same.
 */
uintptr_t thread_pointer(void);

/* Whether it is that of a thread with a place here. */
bool thread_is_known(uintptr_t pointer);

/* What the program believes: that SIGTRAP is blocked in this thread, among all signals. */
bool thread_is_masked(void);
void thread_set_masked(bool is_masked);

/* For the thread that calls; `is_timed`: threads have timers. */
void threads_begin(bool is_timed);

/* In the child of a fork: of all threads there is only the one that calls. */
void threads_begin_child(void);

/* No more timers. */
void threads_stop_timers(void);
