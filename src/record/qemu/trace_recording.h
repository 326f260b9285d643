/* SPDX-License-Identifier: MIT */
/*
 * Records the address trace of an unmodified program, with all its threads, into a packed file, and
 * those of the processes that it makes, and of programs that take its place, into further ones:
 * x.rps, x.2.rps, x.3.rps …
 *
 *   qemu-x86_64 with a plugin of ours ──shared memory──┐
 *   valgrind --tool=lackey ────────────pipe, text──────┴─▶ skip, limit ─▶ traces/trace_stream.h
 *
 * The program keeps standard input, output and error, and the signals that are meant for it reach
 * it. Lackey traces the program alone.
 */
#pragma once

#include "base/progress.h"
#include "record/notes.h"
#include "traces/blocks/word_filter.h"
#include "traces/trace_taker.h"
#include "traces/trace_writer.h"

typedef enum {
	LODE_TRACE_WAY_QEMU,
	LODE_TRACE_WAY_LACKEY,
	LODE_N_TRACE_WAYS,
} LodeTraceWay;

/* "qemu", "lackey" */
const char *lode_trace_way_to_text(LodeTraceWay value);

typedef struct {
	const char *const *argv; /* NULL-terminated; argv[0] is found in PATH */
	const char *output;      /* the file; one that is there is replaced. NULL: it goes to… */
	const LodeTraceTaker *taker;          /* …this, in a thread of its own; borrowed */
	const LodeWordFilterGeometry *filter; /* of the words for `taker`, which takes all that
	                                         there are as words; NULL: none */
	LodeTraceWriterOptions writer;
	int way;              /* LodeTraceWay; −1: qemu, or lackey where that cannot be used */
	uint64_t skip;        /* leave out so many instructions of each process first */
	uint64_t limit;       /* record so many, then let the process go on untraced; 0: all */
	const char *function; /* record only while inside, with all that it calls; NULL: always */
	bool is_alone;        /* not what it executes, nor processes that it makes */
	const char *const *only; /* record programs whose name is like one of these, as fnmatch(3)
	                            has it, or whose path is, of those with a slash; NULL: all */
	/* Allocations of the program are recorded, too, but not by lackey: for traces with files,
	 * each log is next to its file, with LODE_TRACE_LOG_SUFFIX. */
	bool has_allocations;
	/* The directory of the logs while the program runs (absolute; an empty one of the
	 * caller's), and after it where there are no files. NULL: one that is made for it, next to
	 * `output`. */
	const char *allocations;
	LodeNotes notes;
} LodeTraceRecordingOptions;

/* One that is not the first. */
typedef struct {
	char *path, *command;
	GPid pid;
	uint64_t n_references, n_instructions, n_bytes;
	unsigned n_threads;
} LodeTraceRecordedProcess;

typedef struct {
	LodeTraceWay way;
	uint64_t n_references, n_instructions, n_bytes; /* of the file */
	unsigned n_threads;
	int exit_status;   /* of the program, as wait() gives it */
	int stop_signal;   /* came meanwhile and is meant for us too, see child.h; 0: none */
	bool is_cut;       /* the limit was reached */
	GArray *processes; /* LodeTraceRecordedProcess, as they began */
} LodeTraceRecording;

/*
 * Runs the program, waits for its end, and writes the file, or ends what the taker has, whatever
 * the end was. Notes report untraced parts. `progress` is used in a different thread. Errors:
 * _NOT_FOUND (program, function, neither tool), _UNSUPPORTED (a program that cannot be run so), _IO
 * (a file that could not be written: the program has run to its end all the same), _USAGE, those of
 * the taker.
 */
LodeTraceRecording *lode_trace_recording_run(
	const LodeTraceRecordingOptions *options, const LodeProgress *progress, GError **error);
void lode_trace_recording_free(LodeTraceRecording *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTraceRecording, lode_trace_recording_free)
