/* SPDX-License-Identifier: MIT */
/* The blocks of a frame as streams: the new ones, and which follow which. Private to traces/. */
#pragma once

#include "traces/frames/frame_layout.h"
#include "traces/frames/frame_streams.h"

/*
 * New blocks of a frame as streams. Blocks are sorted by address, so that they overlap much: one is
 * the tail of another, or begins where it ends. An instruction that is known at an address is not
 * written again.
 */

void lode_block_streams_encode(const LodeTraceFrame *frame, LodeFrameStreams *out);

/* Adds the blocks to the dictionary. Errors: _CORRUPT. */
bool lode_block_streams_decode(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeBlockDictionary *dictionary, GError **error);

/* The invocations of a frame as streams: which blocks there are, which follow which, and at each
 * block that more than one follows, which of them it was. Threads' switches too. */
void lode_block_sequence_encode(const LodeTraceFrame *frame, const LodeFrameLayout *layout,
	LodeCodecEffort effort, LodeFrameStreams *out);

/*
 * Fills in the blocks and switches of a frame that has none. The layout is that of the dictionary,
 * without invocations. Errors: _CORRUPT.
 */
bool lode_block_sequence_decode(const LodeFrameStreams *streams, const LodeFrameHead *head,
	const LodeFrameLayout *layout, LodeTraceFrame *frame, GError **error);
