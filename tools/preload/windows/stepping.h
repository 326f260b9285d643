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

typedef struct {
	uint32_t share_ppm; /* of the program's processor time */
	bool has_registers, is_timed;
	uint64_t seed; /* 0: another each time */
} SteppingOptions;

/* Maps the state. False: no memory. */
bool stepping_begin(const SteppingOptions *options);

/* Makes the log of this process, and installs the handler unless stepping was stopped. */
bool stepping_open(const char *directory);

/* No more windows in this process, nor in its children; the first reason counts. */
void stepping_stop(LodeWindowObstacle obstacle);

/* After it: lets the window that there is end. */
void stepping_wait(void);

/* Whether windows may begin in this process. */
bool stepping_is_on(void);

/* Whether the library handles SIGTRAP of this process. */
bool stepping_is_installed(void);

/* Of this thread: what %fs:0 has. */
uintptr_t stepping_thread_pointer(void);

/* The program's own action on SIGTRAP, at first the default one. Ours stays installed: what is not
 * ours is given to it. */
int stepping_program_action(const struct sigaction *given, struct sigaction *out_old);
