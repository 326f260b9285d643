/* SPDX-License-Identifier: MIT */
/* Private to record/: how records of our events begin (perf_event_open(2)). */
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>

/* The fields that each event of ours has (set_basics() of perf_event_choice.c). */
typedef struct {
	struct perf_event_header header;
	uint64_t identifier, ip;
	uint32_t pid, tid;
	uint64_t time;
} LodePerfSampleStart;

/* With these fields each other record ends (sample_id_all). */
typedef struct {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t identifier;
} LodePerfRecordEnd;

/* PERF_RECORD_FORK and PERF_RECORD_EXIT. */
typedef struct {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
} LodePerfThreadRecord;

/* PERF_RECORD_COMM; the name may be shorter. */
typedef struct {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[16];
} LodePerfNameRecord;
