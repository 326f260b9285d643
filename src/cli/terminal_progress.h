/* SPDX-License-Identifier: MIT */
/*
 * The progress line on standard error, after two seconds of work. On a terminal it is redrawn, and
 * erased at the end. Elsewhere, as in a log, it is a line of its own every ten seconds, or as many
 * as LODE_PROGRESS in the environment says; 0: none. Also stops the work on Ctrl-C.
 *
 * From the first report of some work on, a thread of its own draws the line again each second, so
 * that also a stage that reports nothing more is seen to go on. While it is hidden, as while a
 * program runs, the thread writes nothing.
 */
#pragma once

#include <glib.h>

#include "base/progress.h"

typedef struct {
	LodeProgress progress; /* give &self->progress to the work */
	gint64 start_us, drawn_us;
	gint64 line_interval_us; /* between lines, unless it is a terminal; 0: no lines */
	bool is_visible;
	/* private: the thread, and what it draws; the mutex also guards is_visible */
	GThread *ticker; /* NULL: nothing was reported yet */
	GMutex mutex;
	GCond ends;
	bool is_ending, is_working; /* working: from a report to where the line is hidden */
	char *drawn;                /* the line without the seconds */
} LodeTerminalProgress;

/* Starts the clock and catches Ctrl-C. */
void lode_terminal_progress_init(LodeTerminalProgress *self);

/* Erases the line, before anything else is printed. May be called repeatedly. */
void lode_terminal_progress_hide(LodeTerminalProgress *self);

void lode_terminal_progress_clear(LodeTerminalProgress *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeTerminalProgress, lode_terminal_progress_clear)
