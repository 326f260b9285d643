/* SPDX-License-Identifier: MIT */
/*
 * Asks a running program, from outside, what its samples leave open: which way branches go, where
 * accesses and indirect calls go, how long string instructions are (docs/use/probes.md).
 *
 *   samples ─▶ hot code ─▶ places with most weight × doubt ─▶ breakpoints ─▶ hits ─┬─▶ log
 *           └▶ hot thread ─────────────────────────────────▶ some 100 steps ───────┘
 *                                  └──── short sessions, at random times, within a budget ────┘
 *
 * The program gets no library, signal, handler or variable. A thread whose switches would become
 * dear by events of its own is left alone.
 */
#pragma once

#include "record/events/perf_kernel.h"
#include "record/ptrace/stop_user.h"
#include "record/windows/window_logs.h"

#include <linux/perf_event.h>

typedef struct {
	double share; /* of the program's processor time; 0: no probes */
} LodeProbeOptions;

typedef struct LodeProbeRecorder LodeProbeRecorder;

/* Both are borrowed. Measures what a hit costs here, which takes some milliseconds. */
LodeProbeRecorder *lode_probe_recorder_new(
	const LodeProbeOptions *options, const LodePerfKernel *kernel, LodeWindowLogs *logs);
void lode_probe_recorder_free(LodeProbeRecorder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeProbeRecorder, lode_probe_recorder_free)

/* A process that lode started, and waits for itself. */
void lode_probe_recorder_set_child(LodeProbeRecorder *self, pid_t child);

/* The program's threads are traced, and are stepped in their stops only: the user of these. */
LodeStopUser lode_probe_recorder_use_stops(LodeProbeRecorder *self);

/* Lets threads go that did not stop in time. False: some have not stopped yet; a stop of lode's
 * child may be theirs. */
bool lode_probe_recorder_let_go(LodeProbeRecorder *self);

/* A sample of user code. */
void lode_probe_recorder_take_sample(
	LodeProbeRecorder *self, pid_t pid, pid_t tid, uint64_t address);

/* A process executes another program, or has ended: what was known of its code is void. */
void lode_probe_recorder_forget(LodeProbeRecorder *self, pid_t pid);

/* How often threads were taken off their processors by it so far. */
uint64_t lode_probe_recorder_stops(const LodeProbeRecorder *self);

/* The program's processor time that probes have taken so far. */
uint64_t lode_probe_recorder_spent_ns(const LodeProbeRecorder *self);

/* Holds no session for the time being. */
void lode_probe_recorder_rest(LodeProbeRecorder *self, bool is_resting);

/* When the next session is due, of g_get_monotonic_time(); G_MAXINT64: none is by itself. */
gint64 lode_probe_recorder_due_us(const LodeProbeRecorder *self);

/* Holds a session if one is due: takes some milliseconds at most. */
void lode_probe_recorder_update(LodeProbeRecorder *self);

/* Gives the logs of all processes to the section; no session is held any more. */
void lode_probe_recorder_end(LodeProbeRecorder *self);
