/* SPDX-License-Identifier: MIT */
/* One frame on its way out of the file; the other side of frame_packing.h. Private to traces/. */
#pragma once

#include "traces/rps/rps_frame.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct LodeRpsFile LodeRpsFile;

typedef struct {
	const LodeRpsFile *file; /* borrowed */
	uint64_t number;
	LodeRpsFrame rps;
	uint64_t body_offset;     /* in the file */
	LodeFrameStreams streams; /* as far as they were read */
} LodeFrameUnpacking;

/* Reads the head; to be cleared in any case. Errors, here and below: _IO, _CORRUPT, _LIMIT; they
 * name file, frame and offset. */
bool lode_frame_unpacking_init(
	LodeFrameUnpacking *self, const LodeRpsFile *file, uint64_t number, GError **error);
void lode_frame_unpacking_clear(LodeFrameUnpacking *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFrameUnpacking, lode_frame_unpacking_clear)

/* Adds the new blocks to the dictionary, which has those of all frames before. */
bool lode_frame_unpacking_add_blocks(
	LodeFrameUnpacking *self, LodeBlockDictionary *dictionary, GError **error);

/* Counts the classes of the slots; as lode_frame_codec_count_classes(), and NULL without an error
 * for a plain frame. */
GArray *lode_frame_unpacking_count_classes(
	LodeFrameUnpacking *self, LodeBlockDictionary *dictionary, GError **error);

/* The frame, once its new blocks are in the dictionary; the caller owns it. */
LodeTraceFrame *lode_frame_unpacking_decode(
	LodeFrameUnpacking *self, LodeBlockDictionary *dictionary, GError **error);
