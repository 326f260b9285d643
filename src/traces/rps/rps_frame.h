/* SPDX-License-Identifier: MIT */
/*
 * The head of a frame's section: the frame's summary, and where its streams are in the body.
 *
 *   streams   0      1    2     7        9       of the codec, those that are not empty
 *   pieces   ╰─────────╯ ╰─╯ ╰─────────────╯     compressed together, small ones
 *   body     │ piece 0  │ 1 │ piece 2      │
 *
 * The dictionary's streams have pieces of their own, before all others, so that they can be read
 * alone. The index has the summary once more.
 */
#pragma once

#include "base/byte_cursor.h"
#include "traces/frames/frame_codec.h"

/* How the references of a frame are written. */
typedef enum {
	LODE_RPS_CODED,  /* by the codec */
	LODE_RPS_NARROW, /* see plain_references.h, as all below */
	LODE_RPS_WIDE,
	LODE_RPS_N_FORMS,
} LodeRpsForm;

/* The streams of plain frames are numbered from the end. */
enum {
	LODE_PLAIN_WORDS = LODE_FRAME_MAX_STREAMS - 1,
	LODE_PLAIN_CODES = LODE_FRAME_MAX_STREAMS - 2,
	LODE_PLAIN_HEAD = LODE_FRAME_MAX_STREAMS - 3,
	LODE_PLAIN_FIRST_STREAM = LODE_PLAIN_HEAD,
};

typedef struct {
	LodeFrameHead head;
	uint32_t dictionary; /* number; one more than that of the frame before: a new one */
	LodeRpsForm form;
	uint16_t *threads; /* that run in the frame, ascending; owned */
	uint32_t n_threads;
} LodeRpsSummary;

void lode_rps_summary_clear(LodeRpsSummary *self);

/* Sets all but dictionary and form. */
void lode_rps_summary_set(LodeRpsSummary *self, const LodeTraceFrame *frame);

/* Appends it, as it is in a frame's head and in the index. */
void lode_rps_summary_encode(const LodeRpsSummary *self, GByteArray *out);

/* `out` is zeroed. Sets the cursor's overrun flag where a number is beyond its bounds. */
void lode_rps_summary_decode(LodeByteCursor *cursor, LodeRpsSummary *out);

/* Several streams, packed one after the other. */
typedef struct {
	uint8_t n_streams, compression;
	uint32_t checksum;
	uint64_t bytes, packed_bytes, offset; /* offset: in the body */
} LodeRpsPiece;

typedef struct {
	LodeRpsSummary summary;
	uint8_t streams[LODE_FRAME_MAX_STREAMS]; /* their numbers, ascending */
	uint64_t stream_bytes[LODE_FRAME_MAX_STREAMS];
	LodeRpsPiece pieces[LODE_FRAME_MAX_STREAMS];
	unsigned n_streams, n_pieces;
	unsigned n_dictionary_pieces; /* the first ones */
} LodeRpsFrame;

void lode_rps_frame_clear(LodeRpsFrame *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeRpsFrame, lode_rps_frame_clear)

/* Whether a stream holds new blocks of the dictionary. */
bool lode_rps_frame_is_dictionary_stream(unsigned stream);

/* The bytes of all streams that are in memory at once when the frame is decoded. */
uint64_t lode_rps_frame_stream_bytes(const LodeRpsFrame *self);

/* Appends the head of the section: the summary, streams and pieces. */
void lode_rps_frame_encode(const LodeRpsFrame *self, GByteArray *out);

/* `out` is zeroed. Errors: _CORRUPT. */
bool lode_rps_frame_decode(
	const uint8_t *head, size_t size, uint64_t body_bytes, LodeRpsFrame *out, GError **error);
