/* SPDX-License-Identifier: MIT */
/*
 * The one way of references into frames, whoever makes them and whoever takes them:
 *
 *   words of a traced program ─▶ skip, limit ─┐
 *   text of lackey ────────────▶ skip, limit ─┤             ┌───────────▶ trace_writer.h: a file
 *   din, ChampSim, CSV ───────────────────────┼─▶ splitter ─┤ frames
 *   part of another trace ────────────────────┘             └──▶ queue ─▶ simulation, import
 *
 * A frame ends when it is full, when its taker wants no larger one, or when the open frames of all
 * streams of a group, with the blocks that they know, take too much memory: then the largest does.
 */
#pragma once

#include "traces/blocks/block_splitter.h"
#include "traces/trace_taker.h"

/* Streams that share memory; all are used by one thread at a time. */
typedef struct LodeTraceStreamGroup LodeTraceStreamGroup;

/* Of open frames and their blocks; 0: 128 MiB. */
LodeTraceStreamGroup *lode_trace_stream_group_new(size_t max_bytes);

/* When its streams have ended. */
void lode_trace_stream_group_free(LodeTraceStreamGroup *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceStreamGroup, lode_trace_stream_group_free)

/* Of one trace. */
typedef struct LodeTraceStream LodeTraceStream;

/* All is borrowed, but for the taker, which is copied. Who adds may change the description until
 * the end; NULL: it is not known yet. `group`: NULL: one of its own. Errors: those of the taker,
 * here and below. */
LodeTraceStream *lode_trace_stream_new(const LodeTraceTaker *taker,
	const LodeTraceDescription *description, LodeTraceStreamGroup *group, GError **error);

/* Appends references. False: no more is wanted, as the taker's range is at its end, or with an
 * error. Blocks while the taker has too much to do. */
bool lode_trace_stream_add(
	LodeTraceStream *self, const LodeReference *references, size_t n, GError **error);

/* Likewise words of one thread, see code_words.h; what was taken is added to `taken`. A frame may
 * end a little before its number of references is reached, and has room for a group of words. */
bool lode_trace_stream_add_words(LodeTraceStream *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint16_t thread, LodeWordsTaken *taken, GError **error);

/* Nothing more is added: gives the frame that is open. What is left may be done in another thread.
 */
void lode_trace_stream_end(LodeTraceStream *self);

/* Ends it where that was not done, and the taker's trace. The description is borrowed; NULL: what
 * there was of one in the beginning holds. */
bool lode_trace_stream_finish(
	LodeTraceStream *self, const LodeTraceDescription *description, GError **error);

/* References added so far, and bytes that the taker wrote so far. */
uint64_t lode_trace_stream_n_references(const LodeTraceStream *self);
uint64_t lode_trace_stream_n_bytes(const LodeTraceStream *self);

/* With the taker's trace, whether it was finished or not. */
void lode_trace_stream_free(LodeTraceStream *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceStream, lode_trace_stream_free)
