/* SPDX-License-Identifier: MIT */
/*
 * A packed address trace → a recording with exact counts, every change of control, and the misses
 * of the caches that it is replayed through; beside it, data addresses.
 *
 *   frame ─┬─▶ counts of blocks and pairs of blocks ─▶ instructions, jumps
 *          └─▶ caches ─▶ misses ─┬─▶ of instructions
 *                                └─▶ 1 of N with its data address
 */
#pragma once

#include "base/progress.h"
#include "ingest/traced/replay_options.h"
#include "sources/code/jit_code_set.h"
#include "sources/recording.h"
#include "traces/trace_reader.h"
#include "traces/trace_taker.h"

typedef struct LodeMemoryReading LodeMemoryReading;
typedef struct LodeProfile LodeProfile;

/* The reason under which a profile accounts for a damaged file. */
#define LODE_TRACED_DAMAGE "the trace is not whole"

/* The fault of the file that a profile was made of, borrowed; NULL: the file is whole. */
const char *lode_traced_damage(const LodeProfile *profile);

/* The reason for executions of unknown code, which may be branches, where branches are predicted.
 */
#define LODE_TRACED_NO_CODE "branches are not predicted: no image of the code"

typedef struct {
	const char *const *paths; /* traces of processes, each with addresses of its own */
	size_t n_paths;
	LodeJitCodeSet *jit;
	LodeMemoryReading *memory; /* gets the data addresses */
	unsigned threads;          /* 0: all processors */
	LodeReplayOptions replay;
} LodeTracedRecordingOptions;

/* The caller owns the result. Errors: those of lode_trace_reader_open() and _next(), _LIMIT,
 * _CANCELLED. A file that is cut short or damaged is read as far as it is whole, and that is
 * accounted for; one of which nothing is whole is _CORRUPT. */
LodeRecording *lode_traced_recording_read(
	const LodeTracedRecordingOptions *options, const LodeProgress *progress, GError **error);

/*
 * The same of traces that come about while a program runs, of which no file is kept: there may be
 * several at a time. Code that is made at run time is placed at the end, when the jitdumps and perf
 * maps are whole; its branches are not predicted.
 */
typedef struct LodeLiveTraces LodeLiveTraces;

/* `paths` is ignored, and `replay.function` is for the recorder: it is only named here. The
 * options' pointers are borrowed until the end; files may be added to `jit` until then. */
LodeLiveTraces *lode_live_traces_new(const LodeTracedRecordingOptions *options);
void lode_live_traces_free(LodeLiveTraces *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeLiveTraces, lode_live_traces_free)

/* The receiver of the frames; borrowed. */
const LodeTraceTaker *lode_live_traces_taker(const LodeLiveTraces *self);

/* How many traces have ended. */
unsigned lode_live_traces_n(const LodeLiveTraces *self);

/* When all have ended, once; the caller owns the result. Errors: _LIMIT. */
LodeRecording *lode_live_traces_finish(LodeLiveTraces *self, GError **error);
