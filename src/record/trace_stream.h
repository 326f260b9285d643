/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: references of processes as frames to a taker, while they run:
 *
 *   references of one process ──splitter──▶ frame, new mappings ──bounded queue──▶ taker's thread
 *
 * The program waits while the queue is full.
 */
#pragma once

#include "traces/block_splitter.h"
#include "traces/trace_range.h"
#include "traces/trace_taker.h"

/* Of all processes. */
typedef struct LodeTraceStream LodeTraceStream;

/* Both are borrowed; `range` of each process, NULL: all. */
LodeTraceStream *lode_trace_stream_new(
	const LodeTraceTaker *taker, const LodeTraceRange *range, uint64_t frame_references);

/* Waits until all was taken that was given so far, so that traces that have ended may be freed. */
void lode_trace_stream_wait(LodeTraceStream *self);

/* Waits until all was taken; nothing is given any more. Errors: those of the taker. */
bool lode_trace_stream_finish(LodeTraceStream *self, GError **error);
void lode_trace_stream_free(LodeTraceStream *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceStream, lode_trace_stream_free)

/* Of one process. The description is borrowed until the stream is finished; the thread that adds
 * may change it until the trace ends. */
typedef struct LodeStreamedTrace LodeStreamedTrace;

LodeStreamedTrace *lode_streamed_trace_new(
	LodeTraceStream *stream, const LodeTraceDescription *description);

/* Blocks while the taker has too much to do. False: no more is wanted, as the range is at its end,
 * or with an error of the taker. */
bool lode_streamed_trace_add(
	LodeStreamedTrace *self, const LodeReference *references, size_t n, GError **error);

/* Likewise words, see code_words.h; what was taken is added to `taken`. */
bool lode_streamed_trace_add_words(LodeStreamedTrace *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint16_t thread, LodeWordsTaken *taken, GError **error);

/* Nothing more will be added: gives what is open. From any thread. */
void lode_streamed_trace_end(LodeStreamedTrace *self);

/* After the stream has waited for its end. */
void lode_streamed_trace_free(LodeStreamedTrace *self);
