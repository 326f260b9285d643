/* SPDX-License-Identifier: MIT */
/*
 * Writes a packed address trace (.rps), front to back, in bounded memory. References are made into
 * frames by the calling thread; frames are coded and compressed by workers, and written in order.
 *
 *   references ──splitter──▶ frame ──queue──▶ codec, compressor ──▶ file
 *
 * Where a frame is not of a program, so that the codec only makes it larger, its references are
 * compressed as they are. Format: docs/formats/rps.md.
 */
#pragma once

#include "traces/block_splitter.h"
#include "traces/reference.h"
#include "traces/trace_description.h"

#include <stddef.h>

typedef enum {
	LODE_TRACE_LEVEL_FAST,    /* zstd 3 */
	LODE_TRACE_LEVEL_DEFAULT, /* zstd 19 */
	LODE_TRACE_LEVEL_SMALL,   /* xz or zstd with a long window, whichever is smaller */
	LODE_N_TRACE_LEVELS,
} LodeTraceLevel;

/* As values of an option. */
#define LODE_TRACE_LEVEL_WORDS "fast, default or small"

/* Of "fast", "default" or "small"; −1 for an unknown word. */
int lode_trace_level_from_text(const char *text);

/*
 * Writers at the same time that share workers and memory: frames in work take half of it, those
 * that are filled and the blocks that they know a quarter. The rest is for what is not counted. The
 * largest of the open frames ends early where they take more.
 */
typedef struct LodeTraceWriterGroup LodeTraceWriterGroup;

enum { LODE_TRACE_WRITERS_MAX_BYTES = 512 << 20 };

/* `threads`: workers; 0: all processors. `max_bytes`: 0: the above. */
LodeTraceWriterGroup *lode_trace_writer_group_new(unsigned threads, size_t max_bytes);
void lode_trace_writer_group_free(LodeTraceWriterGroup *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceWriterGroup, lode_trace_writer_group_free)

typedef struct {
	LodeTraceLevel level;
	unsigned threads;            /* workers; 0: all processors */
	uint64_t frame_references;   /* a frame has at most so many; 0: as many as memory allows */
	LodeTraceWriterGroup *group; /* borrowed, with its threads; NULL: one of its own */
	bool is_private;             /* nobody but this user may read the file */
} LodeTraceWriterOptions;

typedef struct LodeTraceWriter LodeTraceWriter;

/*
 * Opens PATH (see base/new_file.h for how a file takes its place; here likewise: it appears under
 * its name when it is whole, by lode_trace_writer_finish()). Errors: _IO.
 */
LodeTraceWriter *lode_trace_writer_open(
	const char *path, const LodeTraceWriterOptions *options, GError **error);

/* Appends references; of all writers of a group, in one thread. Blocks while the workers have too
 * much to do. Errors: _IO, _LIMIT. */
bool lode_trace_writer_add(
	LodeTraceWriter *self, const LodeReference *references, size_t n, GError **error);

/* Likewise words of one thread, see code_words.h; what was taken is added to `taken`. A frame may
 * end a little before its number of references is reached. */
bool lode_trace_writer_add_words(LodeTraceWriter *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint16_t thread, LodeWordsTaken *taken, GError **error);

/*
 * Writes a description in front of the first frame too, and of later ones as it grows, so that a
 * file that is cut short names its program. It is borrowed until the end; the thread that adds
 * references may change it in between.
 */
void lode_trace_writer_follow(LodeTraceWriter *self, const LodeTraceDescription *description);

/* References added so far, and bytes written so far. */
uint64_t lode_trace_writer_references(const LodeTraceWriter *self);
uint64_t lode_trace_writer_bytes(const LodeTraceWriter *self);

/* Nothing more is appended; in the thread that appended. What is left may be done in another one.
 */
void lode_trace_writer_end(LodeTraceWriter *self);

/* Ends it where that was not done, writes the description (borrowed; NULL: what was written of one
 * that is followed holds) and the index, and puts the file in its place. Errors: _IO, _LIMIT. */
bool lode_trace_writer_finish(
	LodeTraceWriter *self, const LodeTraceDescription *description, GError **error);

/* Frees; without a finish before, nothing is left of the file. */
void lode_trace_writer_close(LodeTraceWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceWriter, lode_trace_writer_close)
