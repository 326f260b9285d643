/* SPDX-License-Identifier: MIT */
/*
 * Reads a packed address trace (.rps), in order or from any reference on, in bounded memory. Frames
 * are decoded by workers ahead of the reader; a reader itself is for one thread.
 *
 * A truncated file is read up to its last whole frame, and this is reported; damage is found by
 * checksums and reported with file and offset.
 */
#pragma once

#include "traces/frames/frame_codec.h"
#include "traces/trace_description.h"
#include "traces/trace_range.h"

typedef struct LodeTraceReader LodeTraceReader;

typedef struct {
	unsigned threads;            /* workers; 0: all processors */
	const LodeTraceRange *range; /* the part that is read; NULL: all */
} LodeTraceReaderOptions;

/* `options` may be NULL. Errors: _IO, _CORRUPT, _UNSUPPORTED (another version of the format),
 * _NOT_FOUND (the range begins beyond the end). */
LodeTraceReader *lode_trace_reader_open(
	const char *path, const LodeTraceReaderOptions *options, GError **error);
void lode_trace_reader_close(LodeTraceReader *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceReader, lode_trace_reader_close)

/* Gives only references of threads inside functions that begin at these addresses (uint64_t), see
 * function_region.h. Before the first frame; not with a sample. */
void lode_trace_reader_set_functions(LodeTraceReader *self, const GArray *addresses);

/* Converts a mapping's first reference to its number among those that were given so far. */
uint64_t lode_trace_reader_n_given_before(const LodeTraceReader *self, uint64_t reference);

/* Borrowed. */
const LodeTraceDescription *lode_trace_reader_description(const LodeTraceReader *self);

/* The range that is read: with a count and a warm-up that the trace has. */
LodeTraceRange lode_trace_reader_range(const LodeTraceReader *self);

/* The numbers of the whole file, by its index, or by its frames if there is none. */
uint64_t lode_trace_reader_n_references(const LodeTraceReader *self);
uint64_t lode_trace_reader_n_instructions(const LodeTraceReader *self);
uint64_t lode_trace_reader_n_frames(const LodeTraceReader *self);
unsigned lode_trace_reader_n_threads(const LodeTraceReader *self);

/* Why the file is not whole ("cut short after frame 7, at offset 1234"); NULL: it is whole. */
const char *lode_trace_reader_damage(const LodeTraceReader *self);

/* The same as an error, _CORRUPT, which names the file; true: it is whole. */
bool lode_trace_reader_is_whole(const LodeTraceReader *self, GError **error);

/*
 * The next frame, of references of one part of the range that is not left out: 1, borrowed until
 * the next call; 0 at the end; −1 with an error that names file, frame and offset: _IO, _CORRUPT.
 */
int lode_trace_reader_next(LodeTraceReader *self, const LodeTraceFrame **out_frame, GError **error);

/* A frame in the file, for `lode trace info`. */
typedef struct {
	uint64_t offset, bytes; /* in the file */
	bool is_plain;          /* references compressed as they are, without the codec */
	LodeFrameHead head;
	uint64_t stream_bytes[LODE_FRAME_MAX_STREAMS];        /* as coded */
	uint64_t stream_packed_bytes[LODE_FRAME_MAX_STREAMS]; /* in the file; small streams that
	                                                         are packed together share that */
} LodeTraceFrameInfo;

/* Frame 0 … n−1 by the index; its streams are read, so that it may fail. Errors: _IO, _CORRUPT.
 */
bool lode_trace_reader_frame_info(
	LodeTraceReader *self, uint64_t frame, LodeTraceFrameInfo *out_info, GError **error);

/* Adds the classes of a frame's slots to `counts`, of LodeSlotClassCount, which may be empty; a
 * plain frame has none. Quickest in the order of frames. */
bool lode_trace_reader_count_classes(
	LodeTraceReader *self, uint64_t frame, GArray *counts, GError **error);

/* Whether the first bytes of a file are of this format. */
bool lode_trace_reader_is_format(const char *data, size_t size);
