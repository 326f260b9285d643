/* SPDX-License-Identifier: MIT */
/*
 * Mappings that the kernel does not announce: the initial stack of a program, and mappings that
 * grow by mremap(2). The announced mappings are remembered; at intervals the lists of the processes
 * in /proc are compared with them, and records are made for new mappings.
 *
 *   records of the rings ─▶ known ranges of each process ─┐
 *                          /proc/PID/maps ────────────────┴─▶ records of what is not known
 *
 * The kernel does not announce unmapping: a removed mapping counts as mapped, here and for readers
 * of the recording, until a new one covers it.
 */
#pragma once

#include "record/events/perf_existing.h"

#include <linux/perf_event.h>

typedef struct LodePerfMappings LodePerfMappings;

/* `sample_type`: of the events; `found`: an executable file. Only `proc`, `found`, `user_data` and
 * `sample_type` of `wanted` are taken. */
LodePerfMappings *lode_perf_mappings_new(const LodePerfExisting *wanted);
void lode_perf_mappings_free(LodePerfMappings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePerfMappings, lode_perf_mappings_free)

/* A process that has begun to execute a program: its mappings are read next. */
void lode_perf_mappings_add(LodePerfMappings *self, pid_t pid, uint64_t time_ns);

/* Adds the processes (pid_t) that are known. */
void lode_perf_mappings_list(const LodePerfMappings *self, GArray *out_pids);

/* A record of a ring: its mapping is known from now on, the mappings of new processes and programs
 * are read. */
void lode_perf_mappings_note_record(LodePerfMappings *self, const struct perf_event_header *record);

/*
 * Reads the mappings of processes that execute a new program, and of all processes at intervals so
 * long that the cost is negligible. Appends records, whose times are those of the previous reading:
 * no record is later than its mapping. True when all were read: later records are later than the
 * reading before this one.
 */
bool lode_perf_mappings_survey(LodePerfMappings *self, uint64_t now_ns, GByteArray *out_records);
