/* SPDX-License-Identifier: MIT */
/*
 * Records a program for the analysis of its data: timer or counter samples with registers and data
 * addresses, the first touch of each page, every mapping, and when asked its allocations.
 *
 *   the program, at fixed addresses ─┬─▶ perf.data            samples, page faults, mappings
 *                                    └─▶ allocations-PID.log   by a preloaded library
 *
 * Address-space randomisation is switched off, so that the addresses are the same in the next run,
 * which a placement is applied to. A process that runs already keeps its addresses; its mappings
 * are read from /proc, and its allocations are unknown.
 */
#pragma once

#include "record/perf/perf_sampler.h"
#include "record/recorded_run.h"

#include <sys/types.h>

/* In the directory of a recording. */
#define LODE_MEMORY_RECORDING_SAMPLES "perf.data"

typedef struct {
	pid_t pid;                  /* record this process, which runs already; 0: run argv */
	const char *const *argv;    /* NULL-terminated; argv[0] is found in PATH. With `pid` it is
	                               what ends the recording when it ends, and may be empty */
	unsigned duration_ms;       /* end the recording after this time; 0: do not */
	const char *directory;      /* where the files go; must exist */
	const char *const *events;  /* to be sampled; see LodePerfSamplerOptions */
	uint64_t frequency, period; /* 0 both: 10,000 a second, or what the kernel allows */
	bool has_allocations;
	bool has_call_chains;      /* the calls that lead to each sample, by frame pointers */
	uint16_t user_stack_bytes; /* of each sample, for the calls of code without; 0: as many as
	                              help to find addresses */
	LodeWindowOptions windows;
	LodeProbeOptions probes;
	bool has_no_page_faults; /* leave the first touches out */
	bool has_page_nodes;     /* ask for the nodes of pages also where there is one */
	bool is_randomised;      /* leave address-space randomisation as it is */
	bool start_stopped;      /* SIGUSR1 to us toggles */
	/* Further options of the sampler (live observer, control…) that are taken as they are;
	 * NULL. */
	const LodePerfSamplerOptions *sampler;
	LodeNotes notes;
} LodeMemoryRecordingOptions;

typedef struct {
	LodeRecordedRun run; /* perf.data and allocation logs */
	LodePerfSampling *sampling;
	bool has_fixed_addresses;
} LodeMemoryRecording;

/*
 * Runs and waits. Parts that are not available (a static program's allocations, fixed addresses in
 * a container) are noted, and the rest is recorded. Errors as lode_perf_sampler_run(); _NOT_FOUND
 * where the preloaded library is not installed.
 */
LodeMemoryRecording *lode_memory_recording_run(
	const LodeMemoryRecordingOptions *options, const LodeProgress *progress, GError **error);
void lode_memory_recording_free(LodeMemoryRecording *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryRecording, lode_memory_recording_free)
