/* SPDX-License-Identifier: MIT */
/* How many threads of a program ran on average, and how long each of them waited. */
#pragma once

#include "base/text/json_stream.h"
#include "views/form/format.h"

typedef struct LodeProfile LodeProfile;
typedef struct LodeThreadTime LodeThreadTime;

/* Threads that ran on average while at least one existed; where switches were recorded for a part
 * of the time, by the processor time that the kernel accounts. 0: not known. */
double lode_threads_running(const LodeProfile *profile);

/* Seconds by the clock in which at least one thread existed; 0: not known. */
double lode_threads_elapsed_seconds(const LodeProfile *profile);

/* Nanoseconds by the clock in which a thread existed and did not run. */
double lode_thread_waiting_ns(const LodeThreadTime *self);

/* uint32_t × profile->thread_times: their indices, the longest wait first, those that never ran
 * last. The caller frees them. */
uint32_t *lode_threads_by_waiting(const LodeProfile *profile);

/*
 * "1.7 threads ran at a time on average; waited longest: main 0.58 s of 0.87 s, worker 0.29 s of
 * 0.58 s, …", and how many waited for a processor on average, where there were not enough of them,
 * or other programs had them: at most three, and not more than fit into the terminal's width, but
 * one. A thread whose name others have too is followed by its number; brief: without these. A
 * single thread has a line only where it waited for other programs. NULL: no times of threads are
 * known, or there is nothing to say of them. The caller frees it.
 */
char *lode_threads_text(const LodeProfile *profile, bool is_brief, const LodeTerminal *terminal);

/* "worker (4712)", "0.29 s of 0.58 s": the caller frees them. */
char *lode_thread_name(const LodeThreadTime *self);
char *lode_thread_waiting_text(const LodeThreadTime *self);

/*
 * "by the clock serial_part() has 60.2 %, not 10.1 %": the function that gains most by time by the
 * clock, compared with `weight_event`. NULL: none gains much, or that time is not known. The caller
 * frees it.
 */
char *lode_latency_hint(
	const LodeProfile *profile, uint32_t weight_event, const LodeTerminal *terminal);

/* An array of objects, the longest wait first. */
void lode_threads_json(LodeJsonStream *json, const LodeProfile *profile);
