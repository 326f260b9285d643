/* SPDX-License-Identifier: MIT */
/*
 * The dictionary as it is before a frame: the new blocks of the frames before it that have
 * the same one, which are read for their dictionary's streams only.
 *
 *   frame        0   1   2   3   4   5
 *   dictionary   0   0   0   1   1   1
 *                            ╰───┴── read to decode frame 5
 *
 * Private to traces/.
 */
#pragma once

#include "traces/frames/frame_unpacking.h"

typedef struct {
	const LodeRpsFile *file; /* borrowed */
	uint64_t next;           /* frame whose new blocks come next */
	LodeBlockDictionary *dictionary;
	uint32_t number; /* the dictionary's */
} LodeDictionaryCursor;

void lode_dictionary_cursor_init(LodeDictionaryCursor *self, const LodeRpsFile *file);
void lode_dictionary_cursor_clear(LodeDictionaryCursor *self);

/*
 * Moves to the frame, begins to unpack it and adds its new blocks, so that it can be decoded with
 * self->dictionary; `unpacking` is to be cleared in any case. After an error the cursor is of no
 * use. Errors: those of frame_unpacking.h.
 */
bool lode_dictionary_cursor_take(
	LodeDictionaryCursor *self, uint64_t frame, LodeFrameUnpacking *unpacking, GError **error);
