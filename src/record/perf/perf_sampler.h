/* SPDX-License-Identifier: MIT */
/*
 * Samples a program with perf_event_open(2) and writes what the kernel says as perf.data, which
 * perf and lode read.
 *
 *   one inherited event on each CPU ─▶ ring buffers ─▶ perf.data: header, records, features
 *
 * An inherited event with a ring buffer must be bound to a CPU, so that there is one for each; so
 * threads and children are followed.
 */
#pragma once

#include "base/progress.h"
#include "record/notes.h"
#include "record/perf/perf_observer.h"
#include "record/probes/probe_recorder.h"
#include "record/programs/jit_runtime.h"
#include "record/windows/window_recorder.h"

#include <stdint.h>
#include <sys/types.h>

/* A timer samples so often in the first milliseconds, if that is more often. */
typedef struct {
	uint64_t frequency;
	unsigned ms; /* 0: not */
} LodeFirstSamples;

/* What is recorded of and beside the samples. */
typedef struct {
	bool has_kernel;      /* the kernel's code too, or else an error; events that have
	                         modifiers are sampled as these say */
	bool has_no_switches; /* context switches are not recorded */
	bool has_waits;       /* threads that wait are looked at, with switches */
	bool has_each_wait;   /* each switch is a sample, too, and who wakes whom, where allowed */
	bool has_scripts;     /* and threads that run a script */
	bool has_branch_stacks; /* -b */
	bool has_call_chains;   /* by frame pointers, of the program's own calls */
	bool has_user_registers;
	/* The number of bytes of the stack above the stack pointer; 0: none. Rounded up to a
	 * multiple of 8, and left out where the kernel has no dumps. */
	uint16_t user_stack_bytes;
	bool has_data_addresses; /* addr, data source, weight; and data mappings */
	bool has_data_mappings;  /* also without those addresses, and now and then those that the
	                            kernel does not announce */
} LodeSampleContent;

/* From when on and until when is sampled. */
typedef struct {
	bool start_stopped;   /* SIGUSR1 to us toggles */
	const char *fifo;     /* lines enable, disable, stop; NULL: none */
	unsigned delay_ms;    /* before sampling starts */
	unsigned duration_ms; /* then the program is ended by SIGTERM; 0: its own end */
} LodeSamplerControl;

typedef struct {
	/* "cycles", "cpu-clock:u,page-faults", "cpu/event=0x3c/pp", libpfm4's names with modifiers;
	 * the first leads. NULL-terminated; NULL: cycles:u at the highest precise level, or where
	 * there is no PMU cpu-clock:u. */
	const char *const *events;
	uint64_t frequency; /* samples a second; 0: by period */
	uint64_t period;    /* events a sample (cpu-clock: nanoseconds); 0: by frequency */
	LodeFirstSamples first;
	double sample_ns; /* of the program's time, that a sample takes here; 0: not known */
	/* Further events, of which each one is a sample, whatever the rate is: "page-faults";
	 * NULL-terminated, or NULL. */
	const char *const *exact_events;
	/* Further events that are not what the recording is for: of so many one is a sample, with
	 * its address and nothing else. Left out with a note where the kernel refuses them.
	 * NULL-terminated, or NULL. */
	const char *const *aside_events;
	uint64_t aside_period;
	LodeSampleContent content;
	bool can_trace;    /* where the kernel refuses perf events, sample by ptrace, see
	                      record/ptrace/ptrace_sampler.h; with `pid`, only look at
	                      threads (has_waits) */
	pid_t pid;         /* sample this process; 0: run argv */
	bool has_siblings; /* and those around it (LodeProcessTree) */
	/* NULL-terminated; argv[0] is looked for in PATH. With `pid` it is not sampled: the
	 * recording goes on for as long as it runs; NULL or empty: none. */
	const char *const *argv;
	const char *const *environment; /* of argv; NULL: ours */
	bool has_fixed_addresses;       /* of argv: no randomisation of its address space */
	LodeWindowOptions windows;      /* of argv; without `pid` only */
	LodeProbeOptions probes;
	bool follows_mappings;      /* write also mappings that the kernel does not announce, as far
	                               as /proc shows them; with windows done less often */
	const char *page_output;    /* where to write on which nodes the pages lie (record/
	                               page_survey.h), with follows_mappings; NULL: nowhere */
	struct LodeV8Survey *heaps; /* is shown the processes, with follows_mappings; or NULL */
	const char *output;         /* the perf.data file */
	unsigned buffer_pages; /* of each CPU, a power of two; 0: as many as allowed, at most 128 */
	LodeSamplerControl control;
	const LodePerfObserver *observer; /* gets each record as it is written; may be NULL */
	LodeJitRuntime *runtime;          /* gets processes and their mappings; may be NULL */
	bool *has_started;                /* set to true when the program is let go; may be NULL */
	bool *is_refused; /* set to true when the kernel does not let us sample; may be NULL */
	const char *const
		*command; /* what stands in the file as the command line; NULL-terminated */
	LodeNotes notes;  /* get a note when Ctrl-C is not enough to end the program */
} LodePerfSamplerOptions;

typedef struct {
	uint64_t n_samples, n_lost, n_throttled, bytes_written;
	uint64_t n_looks; /* at threads that waited */
	char *event;      /* as they were opened: "cpu-clock:u", "cycles:upp and page-faults:u" */
	char *note;       /* features that the machine lacks, and their replacement; NULL: none */
	char *sampling;   /* how it was sampled, and why, where not by perf events at one rate all
	                     the time; else NULL */
	char *obstacle;   /* why there are no samples; NULL: no such reason is known */
	LodeWindowTally windows;
	int exit_status;      /* of argv, as wait() gives it; 0 when there was none or when we
	                         ended it, as the time was up */
	int stop_signal;      /* as LodeChildEnd.stop_signal */
	bool was_interrupted; /* Ctrl-C came, whatever the program made of it */
	bool was_closed;      /* a program had rights that keep us from sampling it; the note names
	                         it */
} LodePerfSampling;

/*
 * Runs or attaches and waits for the end: of the program, of the duration, Ctrl-C, `stop`. The file
 * is whole then, whatever ended it; on failure there is none, unless writing failed on the way: the
 * part until then can be read. Errors: _NOT_FOUND (no such program, process or event), _IO with the
 * exact setting when the kernel forbids it (kernel.perf_event_paranoid, perf_event_mlock_kb,
 * perf_event_max_sample_rate, RLIMIT_NOFILE) and what still works, _USAGE.
 */
LodePerfSampling *lode_perf_sampler_run(
	const LodePerfSamplerOptions *options, const LodeProgress *progress, GError **error);
void lode_perf_sampling_free(LodePerfSampling *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePerfSampling, lode_perf_sampling_free)
