/* SPDX-License-Identifier: MIT */
/*
 * The invocations of a frame by which predictors are selected: all of them, or of every so many in
 * a row some, and the first ones of each block. A few further invocations precede each sampled
 * part, by which a predictor learns the program's state.
 *
 *   invocations   ████████················▒▒█·····▒▒█·······████████·····
 *                 in a row                 first of a block  in a row
 *
 * Private to traces/.
 */
#pragma once

#include "traces/frames/frame_layout.h"

/* Invocations in a row, of one thread. */
typedef struct {
	uint32_t first, end;
	uint32_t address; /* of the frame, where those of the first one begin */
	uint16_t thread;
} LodeFrameStretch;

typedef struct {
	GArray *stretches;   /* owned; LodeFrameStretch, in the order of the frame */
	uint8_t *is_sampled; /* owned; by invocation, the others are only followed; NULL: all are */
} LodeFrameSample;

typedef struct {
	uint32_t in_a_row; /* of LODE_FRAME_SAMPLE_EVERY invocations */
	uint8_t first;     /* of each block, of the others */
} LodeFrameSampleSize;

enum { LODE_FRAME_SAMPLE_EVERY = 1 << 16 };

/* Without a size all invocations. */
void lode_frame_sample_init(LodeFrameSample *self, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, const LodeFrameSampleSize *size);
void lode_frame_sample_clear(LodeFrameSample *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFrameSample, lode_frame_sample_clear)

static inline bool lode_frame_sample_has(const LodeFrameSample *self, size_t invocation)
{
	return self->is_sampled == NULL || self->is_sampled[invocation];
}
