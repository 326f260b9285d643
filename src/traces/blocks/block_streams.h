/* SPDX-License-Identifier: MIT */
/*
 * New blocks of a frame as streams. Blocks are sorted by address, so that they overlap much: one is
 * the tail of another, or begins where it ends. An instruction that is known at an address is not
 * written again. Private to traces/.
 */
#pragma once

#include "traces/frames/frame_streams.h"

void lode_block_streams_encode(const LodeTraceFrame *frame, LodeFrameStreams *out);

/* Adds the blocks to the dictionary. Errors: _CORRUPT. */
bool lode_block_streams_decode(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeBlockDictionary *dictionary, GError **error);
