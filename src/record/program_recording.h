/* SPDX-License-Identifier: MIT */
/*
 * Records a program for the main job, in one run or two: where the time goes is sampled at full
 * speed, and what executes is counted under valgrind. Or all that it does to memory is traced.
 *
 *   sampled run  ─▶ perf.data          ─┐
 *   counting run ─▶ callgrind's dumps   ─┴▶ to be joined
 *   traced run   ─▶ packed trace        ──▶ alone
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
	LODE_RECORDING_BOTH,    /* falls back to one of the others where it must */
	LODE_RECORDING_COUNTS,  /* the program runs once, under valgrind */
	LODE_RECORDING_SAMPLES, /* the program runs once, at full speed */
	LODE_RECORDING_TRACE,   /* the program runs once, see record/trace_recording.h */
} LodeRecordingKind;

typedef struct {
	const char *const *argv; /* NULL-terminated; argv[0] is found in PATH */
	const char *directory;   /* where recordings and logs go; must exist */
	LodeRecordingKind kind;
	bool is_fast;              /* count without cache and branch simulation */
	const char *const *events; /* to be sampled; see LodePerfSamplerOptions */
	size_t n_events;
	uint64_t frequency; /* samples a second; 0: 10,000, or what the kernel allows */
	/* Told what a person should know while it goes on; may be NULL. */
	void (*note)(const char *text, void *user_data);
	void *user_data;
} LodeProgramRecordingOptions;

typedef struct {
	GPtrArray *recordings; /* char *: perf.data, dumps; what lode_import() takes */
	GPtrArray *maps;       /* char *: of the counting run */
	GPtrArray *jit_files;  /* char *: jitdumps that runtimes wrote */
	int exit_status;       /* of the program's first run, as wait() gives it */
	int stop_signal;       /* came meanwhile and is meant for us too, see child.h; 0: none */
} LodeProgramRecording;

/*
 * Runs and waits. The first run has our standard input and output; the second reads the same input
 * again and what it writes goes nowhere. Where standard input cannot be read twice, the program was
 * ended by a signal, or its code is made at run time and so is another in each run, there is one
 * run only. Errors: what lode_perf_sampler_run() and lode_callgrind_run() say, when nothing else
 * can be done instead.
 */
LodeProgramRecording *lode_program_recording_run(
	const LodeProgramRecordingOptions *options, GError **error);
void lode_program_recording_free(LodeProgramRecording *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProgramRecording, lode_program_recording_free)
