/* SPDX-License-Identifier: MIT */
/*
 * Copies records from the rings, and from /proc, into the file. A failure to write is kept until
 * the end, while the rings are still emptied.
 */
#pragma once

#include "machine/cpu_meter.h"
#include "record/budgets/budgets.h"
#include "record/events/perf_event_set.h"
#include "record/page_survey.h"
#include "record/perf/perf_mappings.h"
#include "record/perf/perf_tally.h"
#include "record/probes/probe_recorder.h"
#include "record/waits/switch_samples.h"
#include "record/waits/wait_looker.h"

typedef struct LodePerfSources LodePerfSources;
typedef struct LodePerfWriter LodePerfWriter;
typedef struct LodeSpeedMeter LodeSpeedMeter;

/* Of switches, where these are sampled. */
typedef struct {
	LodeSwitchStacks *stacks; /* NULL: they are not */
	LodePerfChoice waking;    /* as it is written; borrows */
} LodeSwitchSampling;

/* Of the tally's, those that the budgets and the cost have. */
typedef struct {
	uint64_t n_switches, n_mappings, n_samples, n_tasks, n_switch_samples;
} LodePerfSeen;

typedef struct {
	GPtrArray *choices; /* LodePerfChoice */
	GPtrArray *written; /* those of the file: that of looks, too; borrowed */
	LodePerfEventSet *events;
	LodePerfWriter *writer;
	LodePerfTally tally;
	LodeSwitchBudget switches;
	LodeSwitchSampling switch_samples;
	LodeSampleSlices slices; /* of the time, while they are dense */
	LodeTaskBudget tasks;
	LodeOwnCost cost;
	double program_ns; /* its processor time so far, by its samples */
	LodePerfSeen seen;
	bool has_few_events;   /* as many threads were started: sampled in slices to its end */
	GHashTable *slice_ids; /* set of uint64_t, borrowed: of the events that sample then */
	const LodePerfObserver *observer; /* may be NULL */
	bool follows_mappings;            /* as in LodePerfSamplerOptions */
	LodePerfMappings *mappings;       /* NULL: the kernel announces all that is needed */
	const char *page_output;          /* as in LodePerfSamplerOptions */
	LodePageSurvey *pages;            /* NULL: not wanted */
	struct LodeV8Survey *heaps;       /* likewise; borrowed */
	LodeWindowRecorder *windows;      /* borrowed; NULL: not wanted */
	LodeProbeRecorder *probes;        /* likewise */
	LodeWaitLooker *looker;           /* likewise */
	LodeWindowLogs *logs;             /* of both; borrowed; NULL: none */
	LodePerfSources *sources;         /* NULL: no thread is sampled twice */
	LodeSpeedMeter *speed;            /* NULL: not begun */
	GByteArray *kernel;               /* records of its mappings; NULL: not sampled */
	GByteArray *unwrapped;            /* a record of a ring's end and start, for the observer */
	gint64 sealed_us;
	GError *write_error; /* the first; nothing is written any more */
} LodePerfRecording;

void lode_perf_recording_init(LodePerfRecording *self);
void lode_perf_recording_clear(LodePerfRecording *self);

/* From now on the mappings are followed, if that is wanted, of a process that will execute a
 * program, and of those that it starts. */
void lode_perf_recording_follow(LodePerfRecording *self, pid_t pid);

/* Gives the file its name and the events to the observer. */
bool lode_perf_recording_begin(LodePerfRecording *self, GError **error);

/*
 * Writes the content of the rings, one round: no record after it is older than the round before it,
 * and readers may sort up to there.
 */
void lode_perf_recording_drain(LodePerfRecording *self);

/* Closes events where it starts so many threads and processes that these cost too much. Whether it
 * did: descriptors have changed. */
bool lode_perf_recording_bound_events(LodePerfRecording *self);

/* Whether the program is sampled in slices at present. */
bool lode_perf_recording_is_sliced(const LodePerfRecording *self);

/* Whether there is a slice from now on, where there are. To be called after a drain, as
 * what samples stand for may change. */
bool lode_perf_recording_update_slices(LodePerfRecording *self, double sample_ns, double budget);

/* Sums up what the recording takes of the program's time, of which a sample takes so much (0: not
 * known), and lets probes rest while that is more than it should. To be called after a drain,
 * before the stretch changes. */
void lode_perf_recording_charge(LodePerfRecording *self, double sample_ns);

/* Reads what perf needs to name the kernel's functions, when some of it is sampled: that takes
 * long, so do it before the program runs. */
void lode_perf_recording_read_kernel(LodePerfRecording *self);

/* Adds the records that were read. */
void lode_perf_recording_add_kernel(LodePerfRecording *self);

/* Adds the threads and mappings of a process that ran before. */
void lode_perf_recording_add_process(LodePerfRecording *self, pid_t pid, bool has_data);

/* The inputs for the description at the end of the file; all borrowed. */
typedef struct {
	const LodePerfSamplerOptions *options;
	const LodePerfKernel *kernel;
	const char *const *program;  /* its command line, NULL-terminated */
	const LodeCpuTime *cpu_time; /* that it took; NULL: not known */
	const char *sampling;        /* as in LodePerfSampling */
	bool is_by_ptrace;
	uint64_t n_page_faults; /* where no event has counted them */
	uint64_t n_processors;  /* that it may use; 0: not known */
} LodePerfRecordedProgram;

/* Stops sampling, writes the rest and the features, closes the events. */
bool lode_perf_recording_finish(
	LodePerfRecording *self, const LodePerfRecordedProgram *program, GError **error);
