/* SPDX-License-Identifier: MIT */
/*
 * Lets a program be executed step by step now and then, by a library that is preloaded into its
 * processes (tools/preload/windows), and collects what was seen
 * (docs/reference/formats/windows.md).
 *
 *   process: library loaded ──pid──▶ FIFO ─▶ lode: an event of its first thread, which others
 *   inherit ──SIGTRAP──▶ process: a window may begin ─▶ log ──at the end──▶ section of the
 * recording
 *
 * The event counts the thread's processor time and is opened from outside, so that the program has
 * no descriptor of it and executes no system call for it. Linux before 5.18 can kill a program by
 * such an event; there the library uses a timer.
 */
#pragma once

#include "record/events/perf_kernel.h"
#include "record/windows/window_logs.h"

typedef struct {
	double share;        /* of the processor time; 0: no windows */
	bool has_only_paths; /* addresses of instructions, but no registers */
} LodeWindowOptions;

/* Whether data addresses are known from them, which mappings of data give names to. */
static inline bool lode_window_options_has_addresses(const LodeWindowOptions *self)
{
	return self->share > 0 && !self->has_only_paths;
}

typedef struct LodeWindowRecorder LodeWindowRecorder;

/*
 * Makes a private directory for the logs. The kernel is borrowed; `is_on`: windows begin with the
 * program. Errors: _NOT_FOUND (the library is not installed), _UNSUPPORTED, _IO.
 */
LodeWindowRecorder *lode_window_recorder_new(
	const LodeWindowOptions *options, const LodePerfKernel *kernel, bool is_on, GError **error);

/* Removes the directory with all logs. */
void lode_window_recorder_free(LodeWindowRecorder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowRecorder, lode_window_recorder_free)

/* An environment like `environment` (NULL: ours) that a program is to have; borrowed. */
const char *const *lode_window_recorder_environment(
	LodeWindowRecorder *self, const char *const *environment);

/* Whether timers are used, which lode cannot switch off and on. */
bool lode_window_recorder_has_timer(const LodeWindowRecorder *self);

/* Can be read when a process has announced itself… */
int lode_window_recorder_descriptor(const LodeWindowRecorder *self);

/* …but is not to be waited for until this time, of g_get_monotonic_time(), when an update is due;
 * 0: none is. */
gint64 lode_window_recorder_due_us(const LodeWindowRecorder *self);

/* Requests of processes, which wait for the answer. The descriptor can be read when there is one;
 * −1: there are no requests. */
typedef enum {
	LODE_WINDOW_REQUEST_OPEN,  /* its event, before it makes its first thread */
	LODE_WINDOW_REQUEST_CLOSE, /* its event, for good */
	LODE_N_WINDOW_REQUESTS,
} LodeWindowRequest;

int lode_window_recorder_request_descriptor(
	const LodeWindowRecorder *self, LodeWindowRequest request);

/* Answers requests, takes the processes that have announced themselves some milliseconds ago, and
 * gives up those that have ended. */
void lode_window_recorder_update(LodeWindowRecorder *self);

/* Whether windows may begin, in all processes. */
void lode_window_recorder_switch(LodeWindowRecorder *self, bool is_on);

/* A program that was started can have no windows: its recording says so. */
void lode_window_recorder_add_obstacle(LodeWindowRecorder *self, pid_t pid);

/* Ends it: no windows begin from now on. */
void lode_window_recorder_end(LodeWindowRecorder *self);

/* The logs, for the section of the recording; borrowed. */
LodeWindowLogs *lode_window_recorder_logs(const LodeWindowRecorder *self);

/* Appends what is missing and why: processes that the kernel refused, logs without room. */
void lode_window_recorder_add_note(const LodeWindowRecorder *self, GString *note);
