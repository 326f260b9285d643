/* SPDX-License-Identifier: MIT */
/*
 * Passes a process's references from a recorder to a file or a taker: skips the first instructions,
 * stops after a number of instructions, numbers threads, and counts.
 *
 *   chunks of one thread each ──▶ skip ──▶ limit ──▶ numbered threads ──▶ traces/trace_stream.h
 */
#pragma once

#include "base/progress.h"
#include "traces/trace_writer.h"

typedef struct LodeTraceIntake LodeTraceIntake;

typedef struct {
	const char *path; /* of the file; NULL: references go to `taker` */
	const LodeTraceWriterOptions *writer;
	const LodeTraceTaker *taker;
	uint64_t skip;                /* instructions to skip, of all threads */
	uint64_t limit;               /* instructions to record after those; 0: all */
	const LodeProgress *progress; /* may be NULL; used in the thread that adds */
} LodeTraceIntakeOptions;

/* All is borrowed. Errors: _IO. */
LodeTraceIntake *lode_trace_intake_open(const LodeTraceIntakeOptions *options, GError **error);

/* Ends the adding; called in the thread that adds. */
void lode_trace_intake_end(LodeTraceIntake *self);

/* Finishes the trace with its description, or removes its file; frees everything except the
 * description and the counts. Errors: those of its taker. */
bool lode_trace_intake_finish(LodeTraceIntake *self, bool is_kept, GError **error);
void lode_trace_intake_free(LodeTraceIntake *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceIntake, lode_trace_intake_free)

/*
 * Takes references of one thread, which it changes; `thread` is the recorder's own number for it.
 * False: the limit is reached, or an error; then all further ones are dropped.
 */
bool lode_trace_intake_add(
	LodeTraceIntake *self, LodeReference *references, size_t n, uint32_t thread, uint32_t tid);

/* Likewise for words, see traces/blocks/code_words.h. */
bool lode_trace_intake_add_words(LodeTraceIntake *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint32_t thread, uint32_t tid);

/* The intake adds threads to it; the caller adds the rest. Valid as long as `self`. */
LodeTraceDescription *lode_trace_intake_description(const LodeTraceIntake *self);

/* Sets the name of a thread; it is stored with the first reference of the thread. */
void lode_trace_intake_name_thread(LodeTraceIntake *self, uint32_t thread, const char *name);

/* Reports progress at intervals, with the given totals of the other intakes of the recording added.
 */
void lode_trace_intake_report(LodeTraceIntake *self, uint64_t more_references, uint64_t more_bytes);

uint64_t lode_trace_intake_n_bytes(const LodeTraceIntake *self);        /* of the file; 0: none */
uint64_t lode_trace_intake_n_references(const LodeTraceIntake *self);   /* in the file */
uint64_t lode_trace_intake_n_instructions(const LodeTraceIntake *self); /* likewise */
uint64_t lode_trace_intake_n_skipped(const LodeTraceIntake *self);      /* instructions */
uint64_t lode_trace_intake_n_dropped(
	const LodeTraceIntake *self); /* references of threads beyond the limit */
bool lode_trace_intake_is_complete(const LodeTraceIntake *self); /* the limit is reached */

/* The error of adding, owned by the caller; NULL: none. */
GError *lode_trace_intake_steal_error(LodeTraceIntake *self);
