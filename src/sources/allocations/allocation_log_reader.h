/* SPDX-License-Identifier: MIT */
/* The declarations that the files of the allocation log's reader share. */
#pragma once

#include "machine/memory_budget.h"
#include "sources/allocations/allocation_log.h"
#include "sources/allocations/live_ranges.h"

typedef struct LodeAllocationIndex LodeAllocationIndex; /* in allocation_log.c */

struct LodeAllocationLog {
	LodeAllocationLogSummary summary;
	GArray *allocations;         /* LodeLoggedAllocation; blocks by begin, then mappings */
	GArray *stacks;              /* LodeAllocationStack; addresses by offset until the end */
	GArray *frames;              /* uint64_t, of all stacks */
	GArray *threads;             /* LodeLoggedThread */
	LodeAllocationIndex *blocks; /* of the heap */
	LodeAllocationIndex *maps;
	GHashTable *given_back; /* address of a block that is not of this log → time of its free */
	LodeLiveRanges *replaced; /* ranges that were first unmapped or mapped over, and the owner
	                             that did it: */
	GArray *replaced_ns;      /* uint64_t, when */
};

typedef enum {
	LODE_LOG_EVENT_MADE,
	LODE_LOG_EVENT_FREED,
	LODE_LOG_EVENT_UNMAPPED
} LodeLogEventType;

typedef struct {
	uint64_t time_ns, address, size;
	uint32_t tid, stack; /* an index into stacks; G_MAXUINT32: unknown */
	uint8_t type;        /* LodeLogEventType */
	uint8_t kind;        /* LodeAllocationKind */
} LodeLogEvent;

typedef struct {
	LodeAllocationLog *log;
	GArray *events; /* LodeLogEvent, as they stand in the file */
	LodeMemoryBudget budget;
	uint64_t first_time_ns; /* added to each time */
} LodeAllocationLogReader;

/* Charged before it is stored, with what the arrays leave free when they grow; false: _LIMIT. */
bool lode_allocation_log_charge(LodeAllocationLogReader *self, size_t bytes, GError **error);

/* Reads a whole file: header, stacks, threads, events. */
bool lode_allocation_log_read_file(
	LodeAllocationLogReader *self, int descriptor, uint64_t size, GError **error);
