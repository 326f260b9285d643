/* SPDX-License-Identifier: MIT */
/*
 * With which words processes were started, from /proc (proc(5)): the command, its directory, where
 * it reads from and writes to. Each is read once, and once more where it may have executed another
 * program since; records of kind LODE_SCRIPT_COMMAND (sources/perf_data/script_look.h) are
 * appended.
 *
 * A process that ends before anybody looks stays unknown. Private to record/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct LodeCommandLooks LodeCommandLooks;

LodeCommandLooks *lode_command_looks_new(void);
void lode_command_looks_free(LodeCommandLooks *self);

/* Of the processes that a thread has started, and of what these have started if they are not known
 * yet; whether one is new. */
bool lode_command_looks_take_children(
	LodeCommandLooks *self, pid_t pid, pid_t tid, GByteArray *records);

/* Of one process, which is in the listing of that number. */
void lode_command_looks_take(
	LodeCommandLooks *self, pid_t pid, unsigned listed, GByteArray *records);

/* Forgets those that are not in that listing, and were known before it. */
void lode_command_looks_forget(LodeCommandLooks *self, unsigned listed);
