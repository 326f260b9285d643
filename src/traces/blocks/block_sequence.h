/* SPDX-License-Identifier: MIT */
/*
 * The invocations of a frame as streams: which blocks there are, which follow which, and at each
 * block that more than one follows, which of them it was. Private to traces/.
 */
#pragma once

#include "traces/frames/frame_layout.h"
#include "traces/frames/frame_streams.h"

/* Threads' switches too. */
void lode_block_sequence_encode(const LodeTraceFrame *frame, const LodeFrameLayout *layout,
	LodeCodecEffort effort, LodeFrameStreams *out);

/*
 * Fills in the blocks and switches of a frame that has none. The layout is that of the dictionary,
 * without invocations. Errors: _CORRUPT.
 */
bool lode_block_sequence_decode(const LodeFrameStreams *streams, const LodeFrameHead *head,
	const LodeFrameLayout *layout, LodeTraceFrame *frame, GError **error);
