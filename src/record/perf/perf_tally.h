/* SPDX-License-Identifier: MIT */
/*
 * Counts the records of a ring before they are written, and remembers the executable mapped files
 * and the started processes, so that the recording need not be read again for them.
 */
#pragma once

#include "record/perf/perf_ring.h"
#include "record/programs/jit_runtime.h"
#include "record/programs/kept_files.h"

typedef struct LodeClosedPrograms LodeClosedPrograms;

typedef struct {
	uint64_t n_samples, n_lost, n_throttled, n_switches, n_switch_samples;
	uint64_t n_tasks; /* threads and processes that were started */
	uint32_t last_task;
	uint64_t n_data_mappings;
	uint64_t first_time_ns, last_time_ns; /* of samples; 0: none */
	LodeKeptFiles *files;                 /* that were mapped to be executed */
	GHashTable *processes;                /* started, not ended, as a set of their ids */
	LodeClosedPrograms *closed;           /* that the kernel did not let us sample */
	/* Sets of uint64_t, borrowed: the ids of events whose samples do not count, and of those
	 * that sample switches and wake-ups. */
	GHashTable *aside, *switching;
	LodeJitRuntime *runtime; /* gets processes and mappings; may be NULL */
} LodePerfTally;

void lode_perf_tally_init(LodePerfTally *self);
void lode_perf_tally_clear(LodePerfTally *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodePerfTally, lode_perf_tally_clear)

/* Every record between tail and head. Samples must begin with identifier, ip, tid, time, and have
 * of the fields that other records get only the CPU besides. */
void lode_perf_tally_add(LodePerfTally *self, const LodePerfRing *ring);
