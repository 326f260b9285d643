/* SPDX-License-Identifier: MIT */
/*
 * Writes the log of windows of this process: a file that is mapped, so that a process may be
 * killed, close all its descriptors or leave by _exit(), and no whole window is lost.
 *
 * No lock, no memory from the heap: for signal handlers. errno is changed.
 */
#pragma once

#include "sources/windows/window_log_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	LodeWindowLogHeader *header; /* NULL: there is no log */
	size_t limit, prepared;      /* bytes at most, and of them writable */
	bool is_populated;           /* pages are had beforehand */
	uint8_t *at;                 /* the next step of the window that is written */
	uint64_t address;            /* the step before */
	uint64_t registers[LODE_WINDOW_REGISTERS];
} WindowLog;

uint64_t window_log_now(void);

/* Makes DIRECTORY/windows-PID.log. */
bool window_log_open(WindowLog *self, const char *directory);

/* Begins a window after those that there are. */
void window_log_begin(WindowLog *self);

typedef struct {
	uint64_t address;
	uint64_t registers[LODE_WINDOW_REGISTERS]; /* 0: not kept */
	uint8_t raised;
	bool is_gap;
} WindowStep;

/* False: no room. */
bool window_log_add(WindowLog *self, const WindowStep *step);

/* The window is whole: shows it to readers. Its size is filled in here. */
void window_log_end(WindowLog *self, LodeWindowHead head);
