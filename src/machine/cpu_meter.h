/* SPDX-License-Identifier: MIT */
/*
 * Processor time of a process during a recording, in user code and in the kernel: its threads, the
 * children that it has waited for, and those that it started and that run at the end; processes
 * that ran before count from when they are followed; for a process that has ended, other
 * descendants count only if they are added. Read from /proc/PID/stat, in ticks of 10 ms (proc(5)),
 * or more precisely from wait4(2) for a child of lode.
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
	pid_t pid;        /* 0: not started */
	LodeCpuTime start, last;
	LodeCpuTime others; /* time of added processes */
	GHashTable *older;  /* private: pid → the LodeCpuTime of one that is followed */
} LodeCpuMeter;

/* Starts the measurement; `proc` is borrowed. `is_new`: the process is forked but has not run yet.
 */
void lode_cpu_meter_begin(LodeCpuMeter *self, const char *proc, pid_t pid, bool is_new);
void lode_cpu_meter_clear(LodeCpuMeter *self);

/* Counts a process that runs already from now on, but not what it starts. Its time does not count
 * if it ends before the measurement. */
void lode_cpu_meter_follow(LodeCpuMeter *self, pid_t pid);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeCpuMeter, lode_cpu_meter_clear)

/* Reads the present time, as the process may end before the next call. */
void lode_cpu_meter_update(LodeCpuMeter *self);

/*
 * Adds the whole time of a process that the metered process started and did not wait for. Gives
 * whether it still runs.
 */
bool lode_cpu_meter_add(LodeCpuMeter *self, pid_t pid);

/*
 * Ends the measurement and gives the time since its start. `ended`: the usage from wait4(2); NULL:
 * the process runs, or is not a child of lode. False: no time is known.
 */
bool lode_cpu_meter_end(LodeCpuMeter *self, const struct rusage *ended, LodeCpuTime *out_time);
