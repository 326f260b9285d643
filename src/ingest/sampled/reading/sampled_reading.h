/* SPDX-License-Identifier: MIT */
/*
 * The reading of perf.data, between its passes (sampled_recording.c). Private to ingest/sampled/.
 *
 *   first_pass.c        records ─▶ places over time, columns, threads
 *   time_columns.c      time by the clock, and of waiting, as columns of their own
 *   second_pass.c       sample, look ─▶ its place and row, each of its values
 *   sample_consumers.c                   └─▶ rows, stacks, data, registers, branches …
 *   reading_account.c   what was lost or left out; program, machine and threads
 */
#pragma once

#include "ingest/sampled/processor_time.h"
#include "ingest/sampled/registers/sampled_registers.h"
#include "ingest/sampled/row_search.h"
#include "ingest/sampled/sampled_counts.h"
#include "ingest/sampled/sampled_kernel.h"
#include "ingest/sampled/sampled_programs.h"
#include "ingest/sampled/sampled_recording.h"
#include "ingest/sampled/sampled_rows.h"
#include "ingest/sampled/sampled_threads.h"
#include "ingest/sampled/sampled_totals.h"
#include "ingest/sampled/scripts/sampled_scripts.h"
#include "ingest/sampled/waits/switch_looks.h"
#include "ingest/windows/window_reading.h"

/* One recording. */
typedef struct {
	const char *path;
	LodePerfData *data;
	uint32_t *columns; /* of each event */
	double *periods;   /* likewise: of a sample that does not say its own; 0: it does */
	size_t n_events;
	LodeSampledCounts counts;
	uint64_t n_samples; /* also those that were not chosen */
	bool has_data;      /* samples have registers or data addresses */
	bool knows_times, has_times;
	uint64_t kernel_text;          /* where the kernel's code began; 0: unknown */
	uint64_t sequence;             /* stands for the time where none is recorded */
	LodeSampledPrograms *programs; /* NULL: all are wanted */
	LodeSampledThreads *threads;   /* NULL: no context switches, and no looks at waits */
	bool has_switches;             /* context switches were recorded */
	bool has_gaps;                 /* in which these were not recorded */
	size_t waiting;                /* the event of looks at threads that wait; n_events: none */
	size_t script;                 /* likewise, of looks at the frames of interpreters */
	size_t switched, waking;       /* likewise, of samples of switches and wake-ups */
	LodeSwitchLooks *switch_looks; /* NULL: switches are not sampled */
	uint32_t number;               /* of the recording */
	uint64_t n_bad_scripts;        /* samples of it whose raw data is damaged */
	uint64_t n_looks, n_bad_looks; /* samples of it; those whose raw data is damaged */
	LodeWindowTimes windows;
} LodeSampledInput;

/* All of them together. */
typedef struct {
	const LodeSampledRecordingOptions *options;
	LodeRecording *recording;
	LodePlaces *places;
	LodeMemoryReading *memory;
	const LodeProgress *progress;
	GArray *inputs; /* LodeSampledInput */
	LodeSampledKernel kernel;
	LodeSampledRows rows;
	LodeRowSearch search;
	LodeSampledTotals totals;
	LodeSampledScripts *scripts;
	LodeSampledRegisters registers;
	double n_lost, n_lost_samples, n_throttled;
	uint64_t n_left_out;    /* samples of programs that were not chosen */
	double n_in_gaps;       /* samples for which others stand by the clock */
	LodeTimerSamples timer; /* those of the weight, outside of windows… */
	double n_timed;         /* …and their number */
	/* The event that is weighed by the clock, and its column then; LODE_NONE: that is not known
	 */
	uint32_t clocked_column, latency_column;
	uint32_t timed_column; /* of the event that weighs time, or else the first one */
	/* Of looks at threads that wait, and time by the clock; LODE_NONE: there are none */
	uint32_t waiting_column, clock_column;
	double clock_scale; /* from the weight of the clocked event to ns */
	double timed_sum;   /* of it, in the first pass */
	bool has_branches;
	uint64_t n_records;
	GPtrArray *kernel_functions; /* const char *, of the sample at hand */
} LodeSampledReading;

/* A sample of the program's own work and one of its values, as consumers see them. */
typedef struct {
	const LodeSampledInput *input;
	const LodePerfRecord *record;
	const LodePerfEvent *event; /* that was sampled */
	uint64_t time_ns;
	LodePlaceOutcome outcome;
	const LodePlace *script; /* frames, as in LodeSampledAccess; with their number */
	guint n_script;
	uint32_t row;      /* that has its weight; LODE_NONE: there is none */
	uint32_t user_row; /* of user code, likewise */
	uint32_t column;   /* of the value */
	double value;
	uint32_t caller; /* of the user code in the tree of calls, for consumers after these */
} LodePlacedSample;

typedef void (*LodeSampledRecordFunc)(
	LodeSampledReading *self, LodeSampledInput *input, const LodePerfRecord *record);

/* --- recordings (sampled_inputs.c) --- */

void lode_sampled_input_clear(void *data);

/* Whether it has lode's looks at threads that wait, and at the frames of interpreters; and whether
 * a record is one. */
bool lode_sampled_input_has_looks(const LodeSampledInput *input);
bool lode_sampled_input_has_scripts(const LodeSampledInput *input);
bool lode_sampled_input_is_look(const LodeSampledInput *input, const LodePerfRecord *record);
bool lode_sampled_input_is_script(const LodeSampledInput *input, const LodePerfRecord *record);
bool lode_sampled_input_is_switch(const LodeSampledInput *input, const LodePerfRecord *record);
bool lode_sampled_input_is_waking(const LodeSampledInput *input, const LodePerfRecord *record);

/* The time of a record, or its number where none is recorded. Called once for each record: in pipe
 * mode, events come just before the first. */
uint64_t lode_sampled_input_time(LodeSampledInput *input, const LodePerfRecord *record);

/* The period of all of an event's samples; 0: it is in the samples. Of a frequency nothing is known
 * without it. */
double lode_sampled_fixed_period(const LodePerfEvent *event);

bool lode_sampled_reading_wants_time(const LodeSampledReading *self, uint64_t time_ns);

/* _CANCELLED. */
bool lode_sampled_reading_is_stopped(const LodeSampledReading *self, GError **error);

bool lode_sampled_reading_each_record(LodeSampledReading *self, LodeSampledInput *input,
	LodeSampledRecordFunc func, const char *stage, GError **error);

/* --- before the samples --- */

/* Opens a recording and reads everything of it but samples. (first_pass.c) */
bool lode_sampled_reading_mappings(LodeSampledReading *self, const char *path, GError **error);

/* The steps of windows: before the samples, of which those in windows are left out; after the
 * mappings of all recordings, as images are opened. (first_pass.c) */
bool lode_sampled_reading_windows(LodeSampledReading *self, GError **error);
void lode_sampled_reading_freeze_threads(const LodeSampledReading *self);

/* The columns of the event that weighs time or else of the first one, of latency, of waiting and of
 * time by the clock, as far as the recordings know them. (time_columns.c) */
void lode_sampled_reading_add_time_columns(LodeSampledReading *self);

/* --- samples --- */

/* Each sample that is asked for goes to all consumers. (second_pass.c) */
bool lode_sampled_reading_samples(LodeSampledReading *self, GError **error);

/* NULL: none. */
const LodePlace *lode_sampled_place_of(const LodeSampledReading *self, uint32_t row);

LodeSampledAccess lode_sampled_access_of(
	const LodeSampledReading *self, const LodePlacedSample *sample);

/* Adds to a column at the sample's row, or to what has no row. (sample_consumers.c) */
void lode_sampled_add_value(
	LodeSampledReading *self, const LodePlacedSample *sample, uint32_t column, double value);

/* The same, and to its stack, for what has no sample of its own; column LODE_NONE: nothing. */
void lode_sampled_add_besides(
	LodeSampledReading *self, const LodePlacedSample *sample, uint32_t column, double value);

void lode_sampled_begin_consumers(LodeSampledReading *self, const LodeSampledInput *input);
void lode_sampled_consume_value(LodeSampledReading *self, LodePlacedSample *sample);
void lode_sampled_consume_sample(LodeSampledReading *self, LodePlacedSample *sample);

/* --- after them (reading_account.c) --- */

/* Whether any sample is left that was asked for. */
bool lode_sampled_reading_has_wanted(const LodeSampledReading *self, GError **error);

/* Lists threads; accounts for what was lost, skipped or left out; describes program and machine. */
void lode_sampled_reading_account(LodeSampledReading *self);

/* Divides processor time between program and kernel, once that of windows is taken off. */
void lode_sampled_reading_divide_time(LodeSampledReading *self);
