/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: the logs that preloaded libraries write into a directory, and those of
 * processes that are probed from outside, as one section of the recording
 * (docs/reference/formats/windows.md).
 *
 *   directory: log, log … ─when its process has ended─▶ packed, in a file without a name ─▶ section
 *   log in memory ────────────────────────────────────▶
 *
 * So a build of a hundred thousand processes does not leave as many files until its end.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
	uint64_t n_windows, n_steps;
	uint64_t cpu_ns;     /* processor time that they took */
	uint64_t n_hits;     /* of breakpoints from outside */
	bool is_loaded;      /* a process has loaded the library */
	unsigned n_logs;     /* of processes with windows or an obstacle */
	unsigned n_left_out; /* of them, as the section had no room for them */
} LodeWindowTally;

typedef struct LodeWindowLogs LodeWindowLogs;

/* The directory is borrowed; NULL: there are only logs that are added. Errors: _IO. */
LodeWindowLogs *lode_window_logs_new(const char *directory, GError **error);
void lode_window_logs_free(LodeWindowLogs *self);

/* Packs the logs of processes that have ended, and removes them. */
void lode_window_logs_collect(LodeWindowLogs *self);

/* Adds a log of a process that was probed from outside, which is copied. */
void lode_window_logs_add(LodeWindowLogs *self, const uint8_t *bytes, size_t size);

/*
 * Collects all that are left, those of processes that still run as far as they are, and writes the
 * section to a file, from an offset on, where the file ends; without a log, nothing. Errors: _IO,
 * without the name of the file.
 */
bool lode_window_logs_write(
	LodeWindowLogs *self, int descriptor, uint64_t offset, uint64_t *out_size, GError **error);

/* Sums of the collected logs. */
const LodeWindowTally *lode_window_logs_tally(const LodeWindowLogs *self);

/* Makes a log that only has an obstacle, of a process that has no windows. */
void lode_window_logs_add_obstacle(const LodeWindowLogs *self, pid_t pid, uint32_t obstacle);
