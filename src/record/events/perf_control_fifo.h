/* SPDX-License-Identifier: MIT */
/* A named pipe by which other processes start and stop the sampling: one word a line. */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum {
	LODE_PERF_CONTROL_NONE, /* nothing more at the moment */
	LODE_PERF_CONTROL_ENABLE,
	LODE_PERF_CONTROL_DISABLE,
	LODE_PERF_CONTROL_STOP,
	LODE_PERF_CONTROL_UNKNOWN, /* any other line */
} LodePerfControl;

typedef struct {
	int descriptor; /* −1: there is none */
	GString *text;  /* read and not yet taken */
} LodePerfControlFifo;

/* `path` NULL: none. Errors: _NOT_FOUND, _USAGE when it is not a named pipe, _IO. */
bool lode_perf_control_fifo_open(LodePerfControlFifo *self, const char *path, GError **error);
void lode_perf_control_fifo_close(LodePerfControlFifo *self);

/* The next line; never waits. */
LodePerfControl lode_perf_control_fifo_next(LodePerfControlFifo *self);
