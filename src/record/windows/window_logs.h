/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: the logs that preloaded libraries left in a directory, as one section of the
 * recording (docs/formats/windows.md).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
	uint64_t n_windows, n_steps;
	uint64_t cpu_ns; /* processor time that they took */
	unsigned n_logs;
	unsigned n_left_out; /* of them, as the section had no room for them */
} LodeWindowTally;

/*
 * Writes the section to a file, from an offset on, where the file ends; without a log, nothing.
 * Logs of processes that still run are copied as far as they are. `refused`: the processes (ids)
 * that the kernel gave no event for, which is noted in their logs. Errors: _IO, without the name of
 * the file.
 */
bool lode_window_logs_write(const char *directory, GHashTable *refused, int descriptor,
	uint64_t offset, uint64_t *out_size, LodeWindowTally *out_tally, GError **error);

/* Makes the log of a process that will have none: it only has an obstacle. */
void lode_window_logs_add_obstacle(const char *directory, pid_t pid, uint32_t obstacle);
