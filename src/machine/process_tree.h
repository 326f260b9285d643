/* SPDX-License-Identifier: MIT */
/*
 * Processes that run and belong together, from /proc (proc(5)): one with all that it has started,
 * and, of services of several processes, those of its kind:
 *
 *   postgres 100 ─┬─ postgres 101 (checkpointer)    101 with siblings: 100, 101, 102, 103
 *                 ├─ postgres 102 (a client's)      102 alone: 102 and what it has started
 *                 └─ postgres 103 (a client's)      100 alone: all
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct {
	pid_t pid;
	/* Also processes of its name with the same parent, with what they have started, and that
	 * parent if it has the name, too. */
	bool has_siblings;
} LodeProcessTree;

/* The processes (pid_t), `pid` first whether it runs or not; `proc` is "/proc". Without the calling
 * process and what it started, unless it is `pid`, and without processes of other users, with what
 * these started, unless the caller is root. A process that is started meanwhile may be missing. The
 * caller unrefs the array. */
GArray *lode_process_tree_list(const LodeProcessTree *self, const char *proc);
