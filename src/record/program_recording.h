/* SPDX-License-Identifier: MIT */
/*
 * Records a program for the main job: where the time goes is sampled at full speed, what executes
 * is counted in qemu, or both, in two runs. Or all that it does to memory is traced.
 *
 *   sampled run  ─▶ perf.data          ─┐
 *   counting run ─▶ counts files        ─┴▶ to be joined
 *   traced run   ─▶ packed trace        ──▶ alone, or to a taker while it runs
 */
#pragma once

#include "base/progress.h"
#include "caches/branch_predictor.h"
#include "caches/hierarchy/hierarchy.h"
#include "record/notes.h"
#include "record/probes/probe_recorder.h"
#include "record/recorded_run.h"
#include "record/windows/window_recorder.h"
#include "traces/trace_taker.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum {
	LODE_RECORDING_SAMPLES, /* the program runs once, at full speed */
	LODE_RECORDING_COUNTS,  /* the program runs once, in qemu */
	LODE_RECORDING_BOTH,    /* twice; falls back to one of the others where it must */
	LODE_RECORDING_TRACE,   /* the program runs once, see record/qemu/trace_recording.h */
} LodeRecordingKind;

typedef struct {
	const char *const *argv; /* NULL-terminated; argv[0] is found in PATH */
	/* For sampling only: a process to attach to, for as long as argv runs, which may be empty;
	 * 0: none. */
	pid_t pid;
	bool has_siblings;     /* with `pid`: as LodePerfSamplerOptions */
	unsigned duration_ms;  /* likewise: of the recording; 0: to the program's end */
	const char *directory; /* where recordings and logs go; must exist */
	LodeRecordingKind kind;
	bool is_alone; /* without programs that it executes and processes that it forks… */
	const char *const *only;   /* …or only programs of these names; NULL: all. Samples are of
	                              all: the import leaves them out */
	bool has_kernel;           /* sample the kernel's code too */
	bool has_no_switches;      /* record no context switches */
	bool has_no_waits;         /* do not look at threads that wait */
	bool has_each_wait;        /* let the kernel tell each wait */
	bool has_no_scripts;       /* nor at the frames of interpreters */
	bool has_no_registers;     /* no registers, top of the stack and page faults with samples */
	bool has_call_chains;      /* with samples the calls that lead there… */
	uint16_t user_stack_bytes; /* …by a copy of the stack, with registers; 0: without */
	bool is_fast;              /* count without cache and branch simulation */
	const LodeHierarchy *caches; /* else of these, see count_run.h; NULL: this machine's */
	LodeBranchModel branches;
	LodeWindowOptions windows; /* of the sampled run */
	LodeProbeOptions probes;   /* likewise */
	const char *const *events; /* to be sampled; see LodePerfSamplerOptions */
	/* Samples a second; 0: 10,000, or what the kernel allows, or, by 500s but at least
	 * 2,000, what takes 4 % of the program's time here. */
	uint64_t frequency;
	LodeNotes notes;
	const LodeProgress *progress; /* of the second run; may be NULL */
	bool has_allocations;         /* of a trace: record what the program allocates, too */
	const LodeTraceTaker *taker;  /* gets the frames, which are in no file then; may be NULL */
	bool *is_refused;             /* see LodePerfSamplerOptions; may be NULL */
} LodeProgramRecordingOptions;

/*
 * Runs and waits. If there are two runs, the first has our standard input and output; the second
 * reads the same input again and its output is discarded. Where standard input cannot be read
 * twice, the program was ended by a signal, or its code is made at run time and so is different in
 * each run, there is one run only. The caller clears `out_run`. A program that a signal ended
 * before anything could be recorded leaves no recordings, which is not an error. Errors: those of
 * lode_perf_sampler_run() and lode_count_run(), unless another kind of run replaces the failed one.
 */
bool lode_program_recording_run(
	const LodeProgramRecordingOptions *options, LodeRecordedRun *out_run, GError **error);
