/* SPDX-License-Identifier: MIT */
/*
 * Private to record/ptrace/: what the tracer sees, as the records that the kernel would have
 * written of it (perf_event_open(2)), into a ring of our own memory, from which they go the way of
 * all records.
 */
#pragma once

#include "record/perf/perf_ring.h"
#include "record/programs/kept_files.h"
#include "record/ptrace/traced_threads.h"

#include <linux/perf_event.h>
#include <sys/user.h>

typedef struct {
	const struct perf_event_attr *attr; /* of the samples; borrowed, as are… */
	LodePerfRing *ring;                 /* …the ring and… */
	LodeKeptFiles *files;               /* …the files that are mapped to be executed */
	uint64_t id;                        /* of the samples' event */
	GByteArray *record;
	uint64_t n_lost; /* records for which there was no room */
} LodeTracedRecords;

void lode_traced_records_init(LodeTracedRecords *self, const struct perf_event_attr *attr,
	uint64_t id, LodePerfRing *ring, LodeKeptFiles *files);
void lode_traced_records_clear(LodeTracedRecords *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeTracedRecords, lode_traced_records_clear)

/* A thread began, or a process when `parent` is of another one. */
void lode_traced_records_begin(LodeTracedRecords *self, const LodeTracedThread *thread,
	pid_t parent_pid, pid_t parent_tid, uint64_t now_ns);

void lode_traced_records_end(
	LodeTracedRecords *self, const LodeTracedThread *thread, uint64_t now_ns);

/* The name of a thread, when it is not recorded yet. */
void lode_traced_records_name(
	LodeTracedRecords *self, LodeTracedThread *thread, bool is_exec, uint64_t now_ns);

/* The mappings of code that are not recorded yet, with the time of the last reading. */
void lode_traced_records_map(LodeTracedRecords *self, LodeTracedProcess *process, uint64_t now_ns);

#if defined(__x86_64__)
/* A sample of a stopped thread; reads the top of its stack. Its code's mapping is recorded first
 * when it is not known. */
void lode_traced_records_sample(LodeTracedRecords *self, LodeTracedThread *thread,
	const struct user_regs_struct *registers, double weight_ns, uint64_t now_ns);
#endif
