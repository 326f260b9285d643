/* SPDX-License-Identifier: MIT */
/*
 * A frame as streams of bytes, in each of which a general compressor finds the repetition, and
 * back:
 *
 *   new blocks ──▶ dictionary streams (sorted by address, fields apart)
 *   invocations ─▶ sequence streams (which of the blocks seen after this one, most recent first)
 *   addresses ───▶ slot streams (of each slot one column, in the representation that suits it)
 *   switches ────▶ thread stream
 *
 * The bytes are those of docs/reference/formats/rps-streams.md, before compression. Knows nothing
 * of files.
 */
#pragma once

#include "traces/frames/trace_frame.h"

/* The streams, in the order of the file; see the table in frame_codec.c for their names. */
enum { LODE_FRAME_MAX_STREAMS = 64 };

/* How many there are. */
unsigned lode_frame_codec_n_streams(void);

/* "dictionary.address", "sequence.rank", "slots.delta" …, for people. */
const char *lode_frame_codec_stream_name(unsigned stream);

typedef struct {
	GByteArray *streams[LODE_FRAME_MAX_STREAMS]; /* owned; never NULL up to n_streams */
} LodeFrameStreams;

/* All empty. */
void lode_frame_streams_init(LodeFrameStreams *self);
void lode_frame_streams_clear(LodeFrameStreams *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeFrameStreams, lode_frame_streams_clear)

/* How hard to look for the best representation; the reader need not know. */
typedef enum {
	LODE_CODEC_QUICK,    /* all is known of a sample alone */
	LODE_CODEC_FAST,     /* the second attempt of thorough */
	LODE_CODEC_THOROUGH, /* two attempts; what packs better */
} LodeCodecEffort;

/* Appends the frame to the streams, which are empty. May run beside the splitter that adds to the
 * frame's dictionary. */
void lode_frame_codec_encode(
	const LodeTraceFrame *frame, LodeCodecEffort effort, LodeFrameStreams *out);

/* The data of a frame before it is decoded: from the index; checked against the streams.
 */
typedef struct {
	uint64_t first_reference, first_instruction, n_references, n_instructions;
	uint32_t first_new_block, n_blocks;
	uint32_t n_invocations, n_addresses, n_switches;
} LodeFrameHead;

/* The head of a frame that is in memory. */
LodeFrameHead lode_frame_head_of(const LodeTraceFrame *frame);

/* Memory of such a frame itself, and about that of its new blocks in a dictionary. */
size_t lode_frame_head_bytes(const LodeFrameHead *head);
size_t lode_frame_head_block_bytes(const LodeFrameHead *head);

/*
 * Adds the new blocks of a frame to its dictionary, which has those of the frames before. Done for
 * all frames in their order; the rest of decoding may be done in any order. Errors: _CORRUPT.
 */
bool lode_frame_codec_decode_blocks(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeBlockDictionary *dictionary, GError **error);

/*
 * The frame again; the caller owns it. Errors: _CORRUPT, in which stream and where. Whatever the
 * streams hold, it takes no more memory than the bounds of a frame allow.
 */
LodeTraceFrame *lode_frame_codec_decode(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeBlockDictionary *dictionary, GError **error);

/*
 * The statistics of a frame, for `lode trace info`: slots (a block's slots count once each) and
 * data references by their class. */
typedef struct {
	const char *name; /* "global", "local", "unassigned", "stride" … */
	uint64_t n_slots, n_references;
} LodeSlotClassCount;

/* GArray of LodeSlotClassCount, of all classes, in the order of the format; the caller owns it. The
 * dictionary has the blocks of the frame. Errors: _CORRUPT. */
GArray *lode_frame_codec_count_classes(const LodeFrameStreams *streams, const LodeFrameHead *head,
	LodeBlockDictionary *dictionary, GError **error);
