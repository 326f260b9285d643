/* SPDX-License-Identifier: MIT */
/* What a perf.data file with data mappings says was mapped, at any time. */
#pragma once

#include "process/address_space.h"
#include "sources/perf_data/perf_data.h"

typedef struct {
	char *path;
	int protection; /* PROT_… */
} RecordedFile;

typedef struct {
	LodeAddressSpaces *spaces;
	GArray *files;      /* RecordedFile, one per mapping: LodeMappedRange.file */
	GHashTable *stacks; /* pid → end of the first thread's stack */
} RecordedMappings;

/* Reads all records, then rewinds. */
bool recorded_mappings_read(RecordedMappings *self, LodePerfData *data, GError **error);
void recorded_mappings_clear(RecordedMappings *self);

/* Of which process when, and where its stack was: the kernel lets a stack grow down to below the
 * stack pointer and writes no record of it. */
typedef struct {
	uint32_t pid;
	uint64_t time_ns, stack_pointer;
} RecordedMoment;

const LodeMappedRange *recorded_mappings_find(
	RecordedMappings *self, const RecordedMoment *moment, uint64_t address);
bool recorded_mappings_are_valid(RecordedMappings *self, const RecordedMoment *moment,
	uint64_t address, uint32_t size, uint8_t access);

const RecordedFile *recorded_mappings_file(
	const RecordedMappings *self, const LodeMappedRange *range);
