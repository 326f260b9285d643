/* SPDX-License-Identifier: MIT */
/*
 * Writes a packed address trace (.rps), front to back, in bounded memory: workers code and compress
 * the frames of a stream (trace_stream.h), which are written in order.
 *
 *   frame ──queue──▶ codec, compressor ──▶ file
 *
 * If coding makes a frame larger, as for references that no program made, its references are
 * compressed as they are. Format: docs/reference/formats/rps.md.
 */
#pragma once

#include "traces/trace_stream.h"

typedef enum {
	LODE_TRACE_LEVEL_FAST,    /* zstd 3 */
	LODE_TRACE_LEVEL_DEFAULT, /* zstd 19 */
	LODE_TRACE_LEVEL_SMALL,   /* xz or zstd with a long window, whichever is smaller */
} LodeTraceLevel;

typedef struct {
	LodeTraceLevel level;
	unsigned threads;          /* workers; 0: all processors */
	uint64_t frame_references; /* limit for a frame; 0: as many as memory allows */
	bool is_private;           /* only this user may read the file */
	/* Shared by several files, borrowed; NULL: a queue of its own. */
	struct LodePackingQueue *queue; /* with its threads */
	LodeTraceStreamGroup *group;
} LodeTraceWriterOptions;

/*
 * Opens PATH (as in base/files/new_file.h, the file gets its name when it is complete, by
 * lode_trace_stream_finish()). The description is also written before the first frame, and before
 * later ones as it grows, so that a truncated file names its program. Errors: _IO, and those of the
 * stream _IO, _LIMIT.
 */
LodeTraceStream *lode_trace_writer_open(const char *path, const LodeTraceWriterOptions *options,
	const LodeTraceDescription *description, GError **error);
