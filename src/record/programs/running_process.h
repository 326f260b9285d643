/* SPDX-License-Identifier: MIT */
/* The name of a process that runs already, by /proc. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct {
	char *name;     /* of its program's file, else its own; without '/', never empty */
	char **command; /* NULL-terminated, never empty: its arguments as they are now, else the
	                   name */
} LodeRunningProcess;

/* The caller clears it. Errors: _NOT_FOUND when there is none. */
bool lode_running_process_read(pid_t pid, LodeRunningProcess *out_process, GError **error);
void lode_running_process_clear(LodeRunningProcess *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeRunningProcess, lode_running_process_clear)
