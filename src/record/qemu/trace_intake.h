/* SPDX-License-Identifier: MIT */
/*
 * What a recorder's references of a process go through on their way into a file, or to a taker: the
 * first instructions are left out where that is asked for, it ends after a number of them, and all
 * is counted.
 *
 *   chunks of one thread each ──▶ skip ──▶ limit ──▶ numbered threads ──▶ traces/trace_stream.h
 */
#pragma once

#include "base/progress.h"
#include "traces/trace_writer.h"

typedef struct LodeTraceIntake LodeTraceIntake;

typedef struct {
	const char *path; /* of the file; NULL: it goes to `taker` */
	const LodeTraceWriterOptions *writer;
	const LodeTraceTaker *taker;
	uint64_t skip;                /* instructions, of all threads */
	uint64_t limit;               /* instructions, after those; 0: all */
	const LodeProgress *progress; /* may be NULL; reported to by whoever adds */
} LodeTraceIntakeOptions;

/* All is borrowed. Errors: _IO. */
LodeTraceIntake *lode_trace_intake_open(const LodeTraceIntakeOptions *options, GError **error);

/* No more is added; in the thread that added. */
void lode_trace_intake_end(LodeTraceIntake *self);

/* The trace is whole, with its description, or no file of it is kept; lets go of all but that and
 * figures. Errors: those of its taker. */
bool lode_trace_intake_finish(LodeTraceIntake *self, bool is_kept, GError **error);
void lode_trace_intake_free(LodeTraceIntake *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceIntake, lode_trace_intake_free)

/*
 * Takes references of one thread, which it changes; `thread` is the recorder's own number for it.
 * False: nothing more is wanted, as there is enough, or an error; then all further ones are
 * dropped.
 */
bool lode_trace_intake_add(
	LodeTraceIntake *self, LodeReference *references, size_t n, uint32_t thread, uint32_t tid);

/* Likewise words, see traces/blocks/code_words.h. */
bool lode_trace_intake_add_words(LodeTraceIntake *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, uint32_t thread, uint32_t tid);

/* Gets the threads; what else is known is added by whoever adds. Valid as long as `self`. */
LodeTraceDescription *lode_trace_intake_description(const LodeTraceIntake *self);

/* The thread is called so from now on; one without references is not remembered. */
void lode_trace_intake_name_thread(LodeTraceIntake *self, uint32_t thread, const char *name);

/* Reports when it is time to; what other intakes of the same recording have is added. */
void lode_trace_intake_report(LodeTraceIntake *self, uint64_t more_references, uint64_t more_bytes);

uint64_t lode_trace_intake_n_bytes(const LodeTraceIntake *self);        /* of the file; 0: none */
uint64_t lode_trace_intake_n_references(const LodeTraceIntake *self);   /* in the file */
uint64_t lode_trace_intake_n_instructions(const LodeTraceIntake *self); /* likewise */
uint64_t lode_trace_intake_n_skipped(const LodeTraceIntake *self);      /* instructions */
uint64_t lode_trace_intake_n_dropped(const LodeTraceIntake *self);      /* of too many threads */
bool lode_trace_intake_is_complete(const LodeTraceIntake *self);        /* the limit is reached */

/* What the taker said, given away; NULL: nothing went wrong. */
GError *lode_trace_intake_steal_error(LodeTraceIntake *self);
