/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: execution breakpoints on one thread, from outside (perf_event_open(2),
 * PERF_TYPE_BREAKPOINT). The processor has four. Each gives the registers just before the
 * instruction, a given number of times, and stops by itself then, also where lode does not run.
 *
 *   open ─▶ arm each slot: address, hits wanted ─▶ collect, collect … ─▶ disarm ─▶ arm … ─▶ close
 *
 * Re-arming: after its hits are used up an event is marked as stopped. Of Linux 6.18 some
 * (6.18.44) do not clear that by any ioctl: each execution costs as much as a hit then, and gives
 * nothing. So such an event is opened anew.
 */
#pragma once

#include "record/events/perf_kernel.h"
#include "record/perf/perf_ring.h"

enum { LODE_PROBE_SLOTS = 4 };

typedef struct LodeProbeHit {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t ran_ns;  /* processor time of the thread; comparable within a slot only */
	uint64_t address; /* run-time */
	uint64_t flags;
	uint64_t registers[16]; /* in the order of their encoding */
} LodeProbeHit;

typedef struct {
	uint64_t address;
	int descriptor;
	unsigned left; /* hits that the kernel would still give */
	/* That the thread had run when it was armed, and when it was hit last. */
	uint64_t armed_ran_ns, last_ran_ns;
	bool is_armed;
	bool is_stopped; /* its hits were used up */
} LodeProbeSlot;

typedef struct {
	const LodePerfKernel *kernel;
	pid_t tid;
	struct perf_event_attr attr; /* of each slot but for its address, as it was opened */
	int output;                  /* the event whose ring has all hits */
	LodeProbeSlot slots[LODE_PROBE_SLOTS];
	unsigned n_slots;
	LodePerfRing ring;
	GArray *hits;    /* LodeProbeHit, in the order of time, since the last disarming */
	uint64_t n_lost; /* for want of room */
} LodeProbeEvents;

/* Opens the events on a thread, disarmed. 0, or errno: ENOSPC where another process, such as a
 * debugger, has breakpoints; then nothing is open. */
int lode_probe_events_open(LodeProbeEvents *self, const LodePerfKernel *kernel, pid_t tid);
void lode_probe_events_close(LodeProbeEvents *self);

/* Wants the next `n` executions of an instruction. False with errno: the kernel refused. */
bool lode_probe_events_arm(LodeProbeEvents *self, unsigned slot, uint64_t address, unsigned n);

/* Takes the hits that have come; gives whether some are still to come. */
bool lode_probe_events_collect(LodeProbeEvents *self);

/* For how long the thread ran while hits were still to come of a slot. */
typedef struct {
	uint64_t armed_ns; /* since it was armed */
	uint64_t idle_ns;  /* without a hit */
} LodeProbeRunning;

/* The least of all such slots; 0 where there is none. */
LodeProbeRunning lode_probe_events_running(const LodeProbeEvents *self);

/* Disarms all slots, and takes what has come. The hits stay until the next arming. */
void lode_probe_events_disarm(LodeProbeEvents *self);
