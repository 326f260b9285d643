/* SPDX-License-Identifier: MIT */
/* Writes perf.data files of samples, record by record, for imports of what a test has thought up.
 */
#pragma once

#include "../sources/perf_data_writer.h"
#include "sources/perf_data.h"

/* The layout of all its records; to be set before the first. */
typedef struct {
	PerfDataFile file;
	bool has_times, has_periods, has_branches;
} SampleFile;

/* With times, periods and branch stacks; of a little-endian machine. */
void sample_file_init(SampleFile *self);
void sample_file_clear(SampleFile *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SampleFile, sample_file_clear)

/* Events are numbered from 0. Without frequency: `period` is fixed. */
void sample_file_add_event(SampleFile *self, uint32_t type, uint64_t config, uint64_t period);

/* Executable; `build_id` NULL or 20 bytes. */
void sample_file_map(SampleFile *self, uint32_t pid, uint64_t time_ns, const LodePerfMapping *map);
void sample_file_exec(SampleFile *self, uint32_t pid, uint64_t time_ns);
void sample_file_fork(SampleFile *self, uint32_t pid, uint32_t parent_pid, uint64_t time_ns);

/* PERF_RECORD_LOST, _LOST_SAMPLES, _THROTTLE. */
void sample_file_lose(SampleFile *self, uint32_t type, uint64_t n);

typedef struct {
	unsigned event;
	uint16_t mode; /* PERF_RECORD_MISC_KERNEL… */
	uint32_t pid;
	uint64_t time_ns, ip, period;
	const LodePerfBranch *branches; /* newest first */
	size_t n_branches;
} Sample;

void sample_file_add(SampleFile *self, const Sample *sample);

/* To a file, whose directory must exist. */
void sample_file_write(SampleFile *self, const char *path);
