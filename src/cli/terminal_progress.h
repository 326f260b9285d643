/* SPDX-License-Identifier: MIT */
/*
 * The progress line: on standard error, only where that is a terminal, only when the work takes
 * longer than two seconds, and gone when it ends. Also what makes the work stop on Ctrl-C.
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

/* Takes the line away, before anything else is printed. May be called again and again. */
void lode_terminal_progress_hide(LodeTerminalProgress *self);

void lode_terminal_progress_clear(LodeTerminalProgress *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeTerminalProgress, lode_terminal_progress_clear)
