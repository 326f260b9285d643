/* SPDX-License-Identifier: MIT */
/* Writes logs of windows, step by step, as the preloaded library does. */
#pragma once

#include "sources/windows/window_log.h"

typedef struct {
	GByteArray *bytes;
	LodeWindowLogHeader header; /* tests may change it */
	/* Private, of the window at hand. */
	guint window;
	LodeWindowHead head;
	LodeWindowStep last;
} WindowLogWriter;

void window_log_init(WindowLogWriter *self, uint32_t pid);
void window_log_clear(WindowLogWriter *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WindowLogWriter, window_log_clear)

/* A window; its size and number of steps are found out. Registers of its steps are written where
 * its flags say so. */
void window_log_begin(WindowLogWriter *self, const LodeWindowHead *head);
void window_log_add(WindowLogWriter *self, const LodeWindowStep *step);
void window_log_end(WindowLogWriter *self);

/* The log; the caller unrefs it. */
GBytes *window_log_finish(WindowLogWriter *self);
