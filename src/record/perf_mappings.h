/* SPDX-License-Identifier: MIT */
/*
 * Mappings that the kernel does not announce: the stack that a program finds when it starts, what
 * grows by mremap(2). What it does announce goes by; now and then the lists of the processes in
 * /proc are compared with it, and records are made for what is new.
 *
 *   records of the rings ─▶ known ranges of each process ─┐
 *                          /proc/PID/maps ────────────────┴─▶ records of what is not known
 *
 * That something was unmapped is not told: what lies there no more is still taken to be mapped, by
 * us and by whoever reads the recording, until something else lies there.
 */
#pragma once

#include "record/perf_existing.h"

#include <linux/perf_event.h>

typedef struct LodePerfMappings LodePerfMappings;

/* `sample_type`: of the events; `found`: an executable file. Only `proc`, `found`, `user_data` and
 * `sample_type` of `wanted` are taken. */
LodePerfMappings *lode_perf_mappings_new(const LodePerfExisting *wanted);
void lode_perf_mappings_free(LodePerfMappings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodePerfMappings, lode_perf_mappings_free)

/* A process that has begun to execute a program: it is looked at next. */
void lode_perf_mappings_add(LodePerfMappings *self, pid_t pid, uint64_t time_ns);

/* Adds the processes (pid_t) that are known. */
void lode_perf_mappings_list(const LodePerfMappings *self, GArray *out_pids);

/* A record of a ring: mappings are known from now on, new processes and programs are looked at. */
void lode_perf_mappings_see(LodePerfMappings *self, const struct perf_event_header *record);

/*
 * Looks at processes that execute a new program, and at all when so much time has gone by that it
 * costs next to nothing. Appends records, whose times are those of the look before: no mapping is
 * told later than it was there. True when all were looked at: what comes later is later than the
 * look before this one.
 */
bool lode_perf_mappings_look(LodePerfMappings *self, uint64_t now_ns, GByteArray *out_records);
