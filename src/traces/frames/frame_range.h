/* SPDX-License-Identifier: MIT */
/*
 * Parts of a frame, as frames that own their blocks:
 *
 *   frame    fetch load fetch │ load fetch store fetch │ fetch load
 *   part              └───────────────────────────┘
 *   blocks            fetch   │ load fetch store  │        those at the ends are shorter ones
 */
#pragma once

#include "traces/frames/trace_frame.h"
#include "traces/trace_range.h"

/* Goes through a frame once, for any number of parts. Borrows it. */
typedef struct {
	const LodeTraceFrame *frame;
	size_t invocation, address, next_switch; /* private, as all below */
	uint64_t reference, instruction;         /* of the trace, where the invocation begins */
	uint16_t thread;
} LodeFrameRange;

void lode_frame_range_init(LodeFrameRange *self, const LodeTraceFrame *frame);

/*
 * Appends to `out` what the frame has of the references [first, end) of the trace, numbered as
 * there; `first` is not before the end of the part before. It is one frame nearly always; blocks
 * that do not fit into one dictionary, with those that were cut, begin another one.
 */
void lode_frame_range_cut(LodeFrameRange *self, uint64_t first, uint64_t end, GPtrArray *out);

/* Appends what a frame has of a range that is not left out, a frame for each part. Takes the frame,
 * which is given as it is where it lies in one part. */
void lode_frame_range_take(LodeTraceFrame *frame, const LodeTraceRange *range, GPtrArray *out);
