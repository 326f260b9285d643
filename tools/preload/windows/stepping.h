/* SPDX-License-Identifier: MIT */
/*
 * The handler of SIGTRAP: begins a window now and then, keeps its steps, ends it.
 *
 *   event of the recorder's, or timer ─▶ chance ─▶ the trap flag is set in the saved flags
 *   trap after each instruction       ─▶ step   ─▶ kept; the next instruction is looked at
 *
 * The window ends before an instruction that would show the flag, or take it where it must not be:
 * system calls, pushf, code of no file. So the flag is set only in a thread in which SIGTRAP is not
 * blocked, and no child, other thread or handler ever has it.
 *
 * One window at a time in a process. All that is said here of its state is wiped by the kernel in a
 * child, however it was forked: there nothing is stepped until stepping_open().
 */
#pragma once

#include "sources/windows/window_log_format.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

typedef struct {
	bool has_registers, is_timed;
	uint64_t seed;         /* 0: a new one each time */
	const char *directory; /* of the logs; borrowed for good */
} SteppingOptions;

/* Maps the state. False: no memory. */
bool stepping_begin(const SteppingOptions *options);

/* Begins in this process: installs the handler. If stepping was stopped, a log says why; otherwise
 * the log is made with the first window. */
void stepping_open(void);

/* A program begins, and ends by exit(): what it takes is known to the budget. */
void stepping_begin_program(void);
void stepping_end_program(void);

/* Makes the log now: the process may soon have no right to make it. */
void stepping_keep_log(void);

/* No more windows in this process, nor in its children; the first reason counts. */
void stepping_stop(LodeWindowObstacle obstacle);

/* The process may not be allowed any system call but its own from now on, nor read the clock: none
 * is made for it, nor in its children. */
void stepping_limit(void);
bool stepping_is_limited(void);

/* After it: lets the window that there is end. */
void stepping_wait(void);

/* Whether something has begun in this process, windows or an obstacle: not in a child that was
 * forked by a system call. */
bool stepping_is_begun(void);

/* Whether windows may begin in this process. */
bool stepping_is_on(void);

/* Whether the library handles SIGTRAP of this process. */
bool stepping_is_installed(void);

/* Not timers of our own. */
bool stepping_has_events(void);

/* Not in a child that has the parent's memory. */
bool stepping_is_own_process(void);

/* Whether it is a signal at which a window could begin. */
bool stepping_is_chance(const siginfo_t *info);

/* For the program's handlers of signals: ends the window of this thread, so that what was
 * interrupted shows nothing of it and may be left for good. */
void stepping_interrupt(ucontext_t *context);

/*
 * The program's own action on SIGTRAP, at first the default one. Ours stays installed, as signals
 * of the recorder's events may still come: what is not ours is given to the program's. Only to be
 * ignored is left to the kernel, as it is handed down to other programs. Stepping has been stopped,
 * unless it is the default action.
 */
int stepping_program_action(const struct sigaction *given, struct sigaction *out_old);

/* The program's own action is the kernel's again. No signal of ours may come any more. */
void stepping_give_back_action(void);
