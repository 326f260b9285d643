/* SPDX-License-Identifier: MIT */
/*
 * The process that a thread waits for, from /proc (proc(5)):
 *
 *   sh ─┬─ sh ─┬─ sed     wait4 of the first sh: sed, as its child is a copy of itself
 *       │      └─ echo    read of a pipe: the process that can write to it, sed
 *       └─ tee
 *
 * Private to record/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Appends the children (pid_t) that a thread started, up to some 32 in all. */
void lode_list_children(pid_t pid, pid_t tid, GArray *out);

/* A child of a thread's process that has not ended; of one that runs the same program, its child in
 * turn. `wanted`: that one; 0 and less: the first that the thread started. 0: there is none. */
pid_t lode_waited_child(pid_t pid, pid_t tid, pid_t wanted);

/*
 * Who has the other end of a pipe that a thread reads from, or writes to: of those that its process
 * started, the last one; else of those that its parent did, or that itself. `name` is as
 * /proc/PID/fd has it. Where nobody but the process itself has it, only the end of a child can end
 * the wait: that child. 0: not known.
 */
pid_t lode_waited_pipe_end(pid_t pid, pid_t tid, const char *name, bool reads);
