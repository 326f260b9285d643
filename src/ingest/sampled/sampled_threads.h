/* SPDX-License-Identifier: MIT */
/*
 * How many threads of a recording ran at a time, and how long each of them ran and waited, from its
 * context switches:
 *
 *   thread 1   in ──────────────── out            in ── exit
 *   thread 2   fork    in ─── out      in ─── out
 *   running    1       2      1    0   1      0   1
 *
 * A thread whose first switch is out ran before it; one without any switch ran between its samples.
 * A slice whose beginning or end is missing, as records were lost, is left out and counted. Where
 * switches were recorded for a part of the time (record/budgets/switch_budget.h), the samples of
 * that part stand for those until the next one. Private to ingest/sampled/.
 */
#pragma once

#include "ingest/sampled/sampled_programs.h"
#include "ingest/sampled/waits/thread_waits.h"
#include "ingest/windows/window_times.h"
#include "process/threads.h"
#include "sources/perf_data/wait_switch.h"

typedef struct LodeSampledThreads LodeSampledThreads;

/* Of one recording. `limit`: of noted switches, forks and the like; the time after them is as if
 * nothing was recorded. 0: 2²⁵. */
LodeSampledThreads *lode_sampled_threads_new(guint limit);
void lode_sampled_threads_free(LodeSampledThreads *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeSampledThreads, lode_sampled_threads_free)

/* Any record, in any order; those that say nothing are skipped. */
void lode_sampled_threads_note(
	LodeSampledThreads *self, const LodePerfRecord *record, uint64_t time_ns);

/* Before the first record: threads that wait are looked at, too. Without switches each look stands
 * for its interval, and is all that is known. */
void lode_sampled_threads_expect_looks(LodeSampledThreads *self, bool has_switches);

/* A look, `interval_ns` after the one before it at the thread; in any order, and no others as a
 * sample. */
void lode_sampled_threads_note_look(LodeSampledThreads *self, const LodePerfRecord *record,
	uint64_t time_ns, uint64_t interval_ns);

/* Likewise a look at one that ran. */
void lode_sampled_threads_note_run(LodeSampledThreads *self, const LodePerfRecord *record,
	uint64_t time_ns, uint64_t interval_ns);

/* A sample of a switch, which is one as well. */
void lode_sampled_threads_note_switch(
	LodeSampledThreads *self, const LodePerfRecord *record, uint64_t time_ns);

/* The process runs a script, whose lines only looks tell: its samples of switches do not count. */
void lode_sampled_threads_note_script(LodeSampledThreads *self, uint32_t pid);

/* A sample of the thread that wakes another one. */
void lode_sampled_threads_note_waking(LodeSampledThreads *self, const LodePerfRecord *record,
	const LodeWaking *waking, uint64_t time_ns);

/* A sample of a timer: where the thread ran, it waited for a processor too. */
void lode_sampled_threads_note_timed(
	LodeSampledThreads *self, const LodePerfRecord *record, double weight);

/* Before the end of the first pass: waits only count in this time. */
void lode_sampled_threads_want(LodeSampledThreads *self, uint64_t begin_ns, uint64_t end_ns);

bool lode_sampled_threads_have_switches(const LodeSampledThreads *self);

/* Before that, too: stops of a thread in these windows are no waits. Borrowed until all is frozen.
 */
void lode_sampled_threads_leave_out(LodeSampledThreads *self, const LodeWindowTimes *windows);

/* Once all is noted. Only threads of the programs count; NULL: all. */
void lode_sampled_threads_freeze(LodeSampledThreads *self, const LodeSampledPrograms *programs);

/* Whether threads ran at the same time for at least a hundredth of the time that they ran. */
bool lode_sampled_threads_are_parallel(const LodeSampledThreads *self);

/* What a sample weighs by the clock, of its weight: 1 ÷ the threads that ran; more where it stands
 * for others, 0 where it does not count. */
double lode_sampled_threads_share(LodeSampledThreads *self, uint64_t time_ns);

/* The share of the recording's time in which switches were recorded. */
double lode_sampled_threads_recorded(const LodeSampledThreads *self);

/* For how long the thread of a record ran from one time to the other. False: that is not known,
 * as it did not run at both, or switches were not recorded all the time in between. */
bool lode_sampled_threads_running(LodeSampledThreads *self, const LodePerfRecord *record,
	uint64_t begin_ns, uint64_t end_ns, double *out_ns);

/* Switches without the one before or after. */
uint64_t lode_sampled_threads_n_incomplete(const LodeSampledThreads *self);

/* Appends a LodeThreadTime for each thread, by pid and tid, with its name in `threads`. */
void lode_sampled_threads_list(
	const LodeSampledThreads *self, const LodeThreads *threads, GArray *out_times);

/* What all looks together stand for. */
const LodeThreadWaits *lode_sampled_threads_waits(const LodeSampledThreads *self);

/* The look that a record is, each once; NULL: it was not noted. */
const LodeThreadLook *lode_sampled_threads_take_look(
	LodeSampledThreads *self, const LodePerfRecord *record, uint64_t time_ns);

/* How long the thread of a record waited for a processor, for each unit of the weight of its
 * samples of the timer. */
double lode_sampled_threads_ready(LodeSampledThreads *self, const LodePerfRecord *record);

typedef struct {
	uint64_t begin_ns, end_ns;
} LodeRunningSlice;

/* Appends a LodeRunningSlice for each time in which the thread ran, in order. */
void lode_sampled_threads_append_slices(
	const LodeSampledThreads *self, const LodeThreadLife *life, GArray *out_slices);
