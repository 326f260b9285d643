/* SPDX-License-Identifier: MIT */
/*
 * A part of a frame, as frames that own their blocks:
 *
 *   frame    fetch load fetch │ load fetch store fetch │ fetch load
 *   part              └───────────────────────────┘
 *   blocks            fetch   │ load fetch store  │        those at the ends are shorter ones
 */
#pragma once

#include "traces/trace_frame.h"

/*
 * Appends to `out` what the frame has of the references [first, end) of the trace, numbered as
 * there. It is one frame nearly always; blocks that do not fit into one dictionary, with those that
 * were cut, begin another one.
 */
void lode_frame_range_cut(
	const LodeTraceFrame *frame, uint64_t first, uint64_t end, GPtrArray *out);
