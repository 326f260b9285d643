/* SPDX-License-Identifier: MIT */
/*
 * Which references of a trace are read: all from one on, or a sample in windows, each after some
 * that only warm caches up.
 *
 *   0        first                                                   first + count
 *   │   warm │ counted                                                           │    every 0
 *   │   warm │ counted │    :        warm │ counted │:  warm │ counted │        :│    every n
 *            ├ length ─┤    :
 *            ├──── every ───┼───────── every ────────┤
 *
 * Each stretch of `every` references has a window. The first is at the start; a fixed sequence
 * places the others, so that windows do not coincide with what a program repeats.
 */
#pragma once

#include <stdint.h>

typedef struct {
	uint64_t first, count;  /* references of the trace, numbered from 0 */
	uint64_t warm_up;       /* before each window, as far as there are so many */
	uint64_t every, length; /* of the windows; every 0: all is one window */
} LodeTraceRange;

/* All of a trace. */
#define LODE_TRACE_RANGE_ALL ((LodeTraceRange){.count = UINT64_MAX})

/* The first reference after all that is read. */
uint64_t lode_trace_range_end(const LodeTraceRange *self);

typedef enum {
	LODE_TRACE_LEFT_OUT,
	LODE_TRACE_WARM_UP,
	LODE_TRACE_COUNTED,
} LodeTracePartKind;

typedef struct {
	LodeTracePartKind kind;
	uint64_t window; /* 0, 1 …, that this is or warms up for */
	uint64_t end;    /* the first reference after it */
} LodeTracePart;

/* The part that a reference is in. `length` ≤ `every`, `warm_up` ≤ `every` − `length`. */
LodeTracePart lode_trace_range_part(const LodeTraceRange *self, uint64_t reference);
