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

/* For the thread that calls; `is_timed`: threads have timers. */
void threads_begin(bool is_timed);

/* In the child of a fork: of all threads there is only the one that calls. */
void threads_begin_child(void);

/* No more timers. */
void threads_stop_timers(void);
