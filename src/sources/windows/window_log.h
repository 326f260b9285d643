/* SPDX-License-Identifier: MIT */
/*
 * Reads the log of windows of one process: stretches of instructions that were executed step by
 * step, with the registers before each (docs/reference/formats/windows.md).
 *
 *   log ─▶ window, window … ─▶ step, step …
 */
#pragma once

#include "sources/windows/window_log_format.h"

#include <glib.h>
#include <stdbool.h>

typedef struct {
	uint64_t address;                          /* of the instruction, at run time */
	uint64_t registers[LODE_WINDOW_REGISTERS]; /* before it; 0 where none are kept */
	uint64_t time_ns; /* since the first step; 0 where the window has no times */
	uint8_t raised;   /* flags of MXCSR that the instruction before raised */
	bool is_gap;      /* not reached from the step before */
} LodeWindowStep;

/* Refers to the log. */
typedef struct {
	LodeWindowHead head;
	const uint8_t *at, *end; /* private: of the steps not read yet */
	uint32_t n_read;         /* private */
	LodeWindowStep step;     /* the last that was read */
} LodeWindow;

typedef struct LodeWindowLog LodeWindowLog;

/* Takes a reference to the bytes; `name` is for messages. Errors: _CORRUPT (not a log),
 * _UNSUPPORTED (another version). A log that ends early or has damaged windows is read as far as it
 * is whole. */
LodeWindowLog *lode_window_log_new(GBytes *bytes, const char *name, GError **error);
void lode_window_log_free(LodeWindowLog *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeWindowLog, lode_window_log_free)

const LodeWindowLogHeader *lode_window_log_header(const LodeWindowLog *self);

/* The next window; false: there is none. */
bool lode_window_log_next(LodeWindowLog *self, LodeWindow *out_window);
void lode_window_log_rewind(LodeWindowLog *self);

/* Bytes at the end that are not windows: 0 unless the log is damaged. Known after the last window.
 */
uint64_t lode_window_log_damaged(const LodeWindowLog *self);

/* The next step, into window->step; false: there is none, or the rest is damaged. */
bool lode_window_next(LodeWindow *window);
