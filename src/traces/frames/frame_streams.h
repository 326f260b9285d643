/* SPDX-License-Identifier: MIT */
/*
 * Which streams a coded frame has, in the order of the file; the parts of the codec share it.
 * Private to traces/.
 */
#pragma once

#include "traces/frames/frame_codec.h"
#include "traces/rps/varint.h"

typedef enum {
	/* The first ones alone give the new blocks: all that a reader who seeks needs of a frame.
	 */
	LODE_STREAM_BLOCK_ADDRESS,
	LODE_STREAM_BLOCK_LENGTH,
	LODE_STREAM_BLOCK_KNOWN,
	LODE_STREAM_BLOCK_INSTRUCTION_SIZE,
	LODE_STREAM_BLOCK_ACCESSES,
	LODE_STREAM_BLOCK_ACCESS_SIZE,

	LODE_STREAM_SWITCH_LENGTH,
	LODE_STREAM_SWITCH_THREAD,

	LODE_STREAM_SEQUENCE_USED,
	LODE_STREAM_SEQUENCE_DEGREE,
	LODE_STREAM_SEQUENCE_EDGE,
	LODE_STREAM_SEQUENCE_CHOICE,
	LODE_STREAM_SEQUENCE_RUN,
	LODE_STREAM_SEQUENCE_FAR,

	LODE_STREAM_SLOT_CLASS,
	LODE_STREAM_SLOT_ADDRESS,
	LODE_STREAM_SLOT_BASE,
	LODE_STREAM_SLOT_OFFSET,
	LODE_STREAM_SLOT_TABLE,

	LODE_STREAM_COLUMN, /* two for each class of slots: symbols, and their extra bytes */
	LODE_N_STREAMS = LODE_STREAM_COLUMN + 2 * 10,
} LodeStream;

static inline LodeByteCursor lode_frame_streams_read(
	const LodeFrameStreams *streams, unsigned stream)
{
	const GByteArray *bytes = streams->streams[stream];
	LodeByteCursor cursor;

	/* An empty array has NULL, to which not even 0 may be added. */
	lode_byte_cursor_init(&cursor, bytes->len > 0 ? bytes->data : (const uint8_t *)"",
		bytes->len, G_BYTE_ORDER != G_LITTLE_ENDIAN);
	return cursor;
}

/* Sets a _CORRUPT error that names the stream and the place in it; false. */
bool lode_frame_streams_damaged(const LodeFrameStreams *streams, unsigned stream,
	const LodeByteCursor *at, const char *what, GError **error);

/* Whether the cursor came to the end of its stream and no further; else an error. */
bool lode_frame_streams_end(
	const LodeFrameStreams *streams, unsigned stream, const LodeByteCursor *at, GError **error);
