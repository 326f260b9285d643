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

/*
 * Appends what a frame has of a range that is not left out, a frame for each part, nearly always:
 * blocks that do not fit into one dictionary, with those that were cut, begin another frame. Takes
 * the frame, which is given as it is where it lies in one part.
 */
void lode_frame_range_take(LodeTraceFrame *frame, const LodeTraceRange *range, GPtrArray *out);
