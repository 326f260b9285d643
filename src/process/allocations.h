/* SPDX-License-Identifier: MIT */
/*
 * Allocation logs by process and time. A process that executes another program has a log for each,
 * and a number of a process comes again.
 */
#pragma once

#include "sources/allocations/allocation_log.h"
#include "sources/recording.h"

typedef struct LodeAllocations LodeAllocations;

LodeAllocations *lode_allocations_new(void);
void lode_allocations_free(LodeAllocations *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAllocations, lode_allocations_free)

/* Takes it over. */
void lode_allocations_take(LodeAllocations *self, LodeAllocationLog *log);

/* Called instead of adding a log that cannot be read: its fault is accounted for. */
void lode_allocations_note_unreadable(LodeAllocations *self, const GError *why);

/* Adds missing records of the logs, and skipped logs, to the recording as unresolved. */
void lode_allocations_account(const LodeAllocations *self, LodeRecording *recording);

/* All of them, LodeAllocationLog, in the order in which they were taken; borrowed. */
const GPtrArray *lode_allocations_all(const LodeAllocations *self);

/* The number of the log of a process that began last in [since_ns, time_ns]; LODE_NONE. */
uint32_t lode_allocations_find(
	LodeAllocations *self, uint32_t pid, uint64_t since_ns, uint64_t time_ns);

/* The thread pointer of a thread of this log at that time. */
bool lode_allocations_find_thread_pointer(
	LodeAllocations *self, uint32_t log, uint32_t tid, uint64_t time_ns, uint64_t *out_pointer);
