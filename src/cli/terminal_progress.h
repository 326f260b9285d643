/* SPDX-License-Identifier: MIT */
/*
 * The progress line: on standard error if that is a terminal, after two seconds of work, and erased
 * at the end. Also stops the work on Ctrl-C.
 */
#pragma once

#include "base/progress.h"

typedef struct {
	LodeProgress progress; /* give &self->progress to the work */
	gint64 start_us, drawn_us;
	bool is_terminal, is_visible;
} LodeTerminalProgress;

/* Starts the clock and catches Ctrl-C. */
void lode_terminal_progress_init(LodeTerminalProgress *self);

/* Erases the line, before anything else is printed. May be called repeatedly. */
void lode_terminal_progress_hide(LodeTerminalProgress *self);

void lode_terminal_progress_clear(LodeTerminalProgress *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeTerminalProgress, lode_terminal_progress_clear)
