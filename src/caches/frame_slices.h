/* SPDX-License-Identifier: MIT */
/* A frame in shorter pieces, each a frame itself that borrows from the whole one. */
#pragma once

#include "traces/frames/trace_frame.h"

typedef struct {
	LodeTraceFrame slice;        /* valid until the next one */
	const LodeTraceFrame *frame; /* private, as all below */
	GArray *switches;
	size_t next_switch;
	uint16_t thread;
} LodeFrameSlices;

void lode_frame_slices_init(LodeFrameSlices *self, const LodeTraceFrame *frame);
void lode_frame_slices_clear(LodeFrameSlices *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFrameSlices, lode_frame_slices_clear)

/* The next piece, of at least `n_references` but for the last one; NULL at the end. New blocks are
 * all in the first. */
const LodeTraceFrame *lode_frame_slices_next(LodeFrameSlices *self, uint64_t n_references);
