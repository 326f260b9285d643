/* SPDX-License-Identifier: MIT */
/*
 * Makes frames of references, from all sources and for all takers:
 *
 *   words of a traced program ─▶ skip, limit ─┐
 *   text of lackey ────────────▶ skip, limit ─┤             ┌───────────▶ trace_writer.h: a file
 *   din, ChampSim, CSV ───────────────────────┼─▶ splitter ─┤ frames
 *   part of another trace ────────────────────┘             └──▶ queue ─▶ simulation, import
 *
 * A frame ends when it is full, when its taker wants no larger one, or when the open frames of all
 * streams of a group, with their dictionaries, take too much memory: then the largest frame is
 * ended.
 */
#pragma once

#include "traces/blocks/block_splitter.h"
#include "traces/trace_taker.h"

/* Streams that share memory; all are used by one thread at a time. */
typedef struct LodeTraceStreamGroup LodeTraceStreamGroup;

/* `max_bytes`: of open frames and their blocks; 0: 128 MiB. */
LodeTraceStreamGroup *lode_trace_stream_group_new(size_t max_bytes);

/* To be called after its streams have ended. */
void lode_trace_stream_group_free(LodeTraceStreamGroup *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceStreamGroup, lode_trace_stream_group_free)

/* The stream of one trace. */
typedef struct LodeTraceStream LodeTraceStream;

/* Copies the taker, and borrows the rest. The caller may extend the description until the end;
 * NULL: it is not known yet. `group` NULL: a group of its own. Errors: those of the taker, here and
 * below. */
LodeTraceStream *lode_trace_stream_new(const LodeTraceTaker *taker,
	const LodeTraceDescription *description, LodeTraceStreamGroup *group, GError **error);

/* Appends references. False: the end of the taker's range is reached, or with an error. Blocks
 * while the taker is busy. */
bool lode_trace_stream_add(
	LodeTraceStream *self, const LodeReference *references, size_t n, GError **error);

/* Likewise for words of one thread, see code_words.h; the counts are added to `taken`. A frame may
 * end slightly before its limit of references; the limit is at least one group of words. */
bool lode_trace_stream_add_words(LodeTraceStream *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint16_t thread, LodeWordsTaken *taken, GError **error);

/* Ends the adding: gives the open frame to the taker. The next functions may be called in a
 * different thread.
 */
void lode_trace_stream_end(LodeTraceStream *self);

/* Ends the stream, if that was not done, and the taker's trace. The description is borrowed; NULL:
 * that of the beginning is used. */
bool lode_trace_stream_finish(
	LodeTraceStream *self, const LodeTraceDescription *description, GError **error);

/* References added so far, and bytes written by the taker so far. */
uint64_t lode_trace_stream_n_references(const LodeTraceStream *self);
uint64_t lode_trace_stream_n_bytes(const LodeTraceStream *self);

/* Frees the taker's trace, too, finished or not. */
void lode_trace_stream_free(LodeTraceStream *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceStream, lode_trace_stream_free)
