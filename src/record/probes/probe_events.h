/* SPDX-License-Identifier: MIT */
/*
 * Private to record/: execution breakpoints on one thread, from outside (perf_event_open(2),
 * PERF_TYPE_BREAKPOINT). The processor has four. Each gives the registers just before the
 * instruction, a given number of times, and stops by itself then, also where lode does not run.
 *
 *   open ─▶ arm each slot: address, hits wanted ─▶ collect, collect … ─▶ disarm ─▶ arm … ─▶ close
 *
 * Re-arming: after its hits are used up an event is marked as stopped, which on Linux 6.18 only
 * PERF_EVENT_IOC_PERIOD clears; PERF_EVENT_IOC_REFRESH alone arms the processor again, so that each
 * execution costs as much as a hit and gives nothing.
 */
#pragma once

#include "record/events/perf_kernel.h"
#include "record/perf/perf_ring.h"

enum { LODE_PROBE_SLOTS = 4 };

typedef struct LodeProbeHit {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t address; /* run-time */
	uint64_t flags;
	uint64_t registers[16]; /* in the order of their encoding */
} LodeProbeHit;

typedef struct {
	uint64_t address;
	int descriptor;
	unsigned left; /* hits that the kernel would still give */
	bool is_armed;
} LodeProbeSlot;

typedef struct {
	struct perf_event_attr attr; /* of each slot but for its address, as it was opened */
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

/* Disarms all slots, and takes what has come. The hits stay until the next arming. */
void lode_probe_events_disarm(LodeProbeEvents *self);
