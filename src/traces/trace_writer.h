/* SPDX-License-Identifier: MIT */
/*
 * Writes a packed address trace (.rps), front to back, in bounded memory: takes the frames of a
 * stream (trace_stream.h), which are coded and compressed by workers, and written in order.
 *
 *   frame ──queue──▶ codec, compressor ──▶ file
 *
 * Where a frame is not of a program, so that the codec only makes it larger, its references are
 * compressed as they are. Format: docs/formats/rps.md.
 */
#pragma once

#include "traces/trace_stream.h"

typedef enum {
	LODE_TRACE_LEVEL_FAST,    /* zstd 3 */
	LODE_TRACE_LEVEL_DEFAULT, /* zstd 19 */
	LODE_TRACE_LEVEL_SMALL,   /* xz or zstd with a long window, whichever is smaller */
	LODE_N_TRACE_LEVELS,
} LodeTraceLevel;

typedef struct {
	LodeTraceLevel level;
	unsigned threads;          /* workers; 0: all processors */
	uint64_t frame_references; /* a frame has at most so many; 0: as many as memory allows */
	bool is_private;           /* nobody but this user may read the file */
	/* Of several files at the same time, borrowed; NULL: of its own. */
	struct LodePackingQueue *queue; /* with its threads */
	LodeTraceStreamGroup *group;
} LodeTraceWriterOptions;

/*
 * Opens PATH (see base/files/new_file.h for how a file takes its place; here likewise: it appears
 * under its name when it is whole, by lode_trace_stream_finish()). A description is written in
 * front of the first frame too, and of later ones as it grows, so that a file that is cut short
 * names its program. Errors: _IO, and those of the stream _IO, _LIMIT.
 */
LodeTraceStream *lode_trace_writer_open(const char *path, const LodeTraceWriterOptions *options,
	const LodeTraceDescription *description, GError **error);
