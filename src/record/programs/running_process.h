/* SPDX-License-Identifier: MIT */
/* The name and the status of a process that runs already, from /proc (proc(5)). */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
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

/* /proc/PID/task/TID/status; NULL: the thread has ended, or may not be read. The caller frees it.
 */
char *lode_thread_status_read(pid_t pid, pid_t tid);

/* A number of it, such as "TracerPid" to the base 10; 0 where there is none of the name. */
uint64_t lode_thread_status_number(const char *status, const char *name, unsigned base);

/* How the thread and its process handle SIGTRAP; all false where `status` does not say. */
typedef struct {
	bool is_known, is_blocked, is_ignored, is_caught, is_pending;
} LodeTrapUse;

LodeTrapUse lode_thread_status_trap(const char *status);
