/* SPDX-License-Identifier: MIT */
/*
 * How much time of the processors a process took while it was recorded, in user code and in the
 * kernel: its threads, the children that it has waited for, and those that run at the end; of a
 * process that has ended, others only where they are added. From
 * /proc/PID/stat, in ticks of 10 ms (proc(5)), or better from wait4(2) where the process is ours.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef struct {
	uint64_t user_ns, system_ns;
} LodeCpuTime;

typedef struct {
	const char *proc; /* "/proc" */
	pid_t pid;        /* 0: not begun */
	LodeCpuTime start, last;
	LodeCpuTime others; /* of what was added */
	GHashTable *older;  /* private: children that ran before */
} LodeCpuMeter;

/* Begins the measurement; `proc` is borrowed. `is_new`: the process has done nothing yet, although
 * it was forked before. */
void lode_cpu_meter_begin(LodeCpuMeter *self, const char *proc, pid_t pid, bool is_new);
void lode_cpu_meter_clear(LodeCpuMeter *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeCpuMeter, lode_cpu_meter_clear)

/* Notes how much it is by now, for a process that may end between two calls. */
void lode_cpu_meter_update(LodeCpuMeter *self);

/*
 * Adds all that a process took which the one that is metered started and did not wait for. Gives
 * whether it still runs.
 */
bool lode_cpu_meter_add(LodeCpuMeter *self, pid_t pid);

/*
 * How much it was from the beginning to now; `ended`: what wait4(2) said of the process, NULL: it
 * runs, or is not ours. False when nothing is known.
 */
bool lode_cpu_meter_end(LodeCpuMeter *self, const struct rusage *ended, LodeCpuTime *out_time);
