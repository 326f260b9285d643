/* SPDX-License-Identifier: MIT */
/*
 * Progress and cancellation of long work. Library code never prints: cli/ passes a callback that
 * draws a line on the terminal after two seconds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Declared here: the headers of GIO take thrice the time of GLib's. */
typedef struct _GCancellable GCancellable;

/*
 * Called from the thread that started the work, at most some ten times a second. `stage` is a
 * static or caller-lived phrase ("reading callgrind.out", "iteration 3"), `done` and `total` are in
 * units of the stage (total 0: unknown), `detail` may be NULL. `stage` NULL: the work is about to
 * print, the drawn line must be removed.
 */
typedef void (*LodeProgressFunc)(
	const char *stage, double done, double total, const char *detail, void *user_data);

/* A line for the user that stays, from the same thread. */
typedef void (*LodeProgressNoteFunc)(const char *text, void *user_data);

typedef struct {
	LodeProgressFunc report;   /* NULL: silent */
	void *user_data;           /* passed to report and note */
	GCancellable *cancellable; /* NULL: cannot be stopped; borrowed */
	LodeProgressNoteFunc note; /* NULL: notes are not wanted */
} LodeProgress;

/* Reports when `progress` and its callback are there. */
static inline void lode_progress_report(const LodeProgress *progress, const char *stage,
	double done, double total, const char *detail)
{
	if (progress != NULL && progress->report != NULL)
		progress->report(stage, done, total, detail, progress->user_data);
}

/* Before the first thing that is printed. */
static inline void lode_progress_end(const LodeProgress *progress)
{
	lode_progress_report(progress, NULL, 0, 0, NULL);
}

/* Whether the work was cancelled. Cheap, callable from any thread. */
bool lode_progress_is_cancelled(const LodeProgress *progress);
