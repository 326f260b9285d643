/* SPDX-License-Identifier: MIT */
/*
 * What the mappings of a recording are of, and so where an address in one of them lies: in an
 * image's file, in code that was made at run time, or in what cannot be looked into.
 * Private to ingest/.
 */
#pragma once

#include "ingest/sampled/sampled_rows.h"
#include "process/address_space.h"
#include "sources/jit_code_set.h"
#include "sources/perf_data.h"

/* Why a sample is at no instruction. The order is that of the account. */
typedef enum {
	LODE_SAMPLED_RESOLVED,
	LODE_SAMPLED_KERNEL, /* and in none of its functions, see sampled_kernel.h */
	LODE_SAMPLED_HYPERVISOR,
	LODE_SAMPLED_GUEST,
	LODE_SAMPLED_UNMAPPED,
	LODE_SAMPLED_JIT_UNKNOWN, /* memory of no file, and no jitdump or perf map knows it */
	LODE_SAMPLED_SPECIAL,     /* the kernel's own pages in the process: [vdso] */
	LODE_SAMPLED_N_OUTCOMES,
} LodeSampledOutcome;

typedef struct {
	LodeRecording *recording;  /* borrowed; objects are added to it */
	LodeJitCodeSet *jit;       /* borrowed */
	GArray *files;             /* File: of mappings, by their path and build-id */
	GHashTable *file_ids;      /* path + build-id → index + 1, of the current recording */
	guint first_of_recording;  /* its first of `files` */
	GHashTable *object_ids;    /* likewise, of recording->objects */
	GHashTable *perf_map_pids; /* processes whose perf map was looked for */
	bool is_live;              /* programs run still: code made at run time is not looked for */
} LodeSampledFiles;

void lode_sampled_files_init(LodeSampledFiles *self, LodeRecording *recording, LodeJitCodeSet *jit);
void lode_sampled_files_clear(LodeSampledFiles *self);

/*
 * The number of the file that a mapping is of. A mapped jitdump, and the perf map of a process with
 * executable memory of no file, are added to the set of JIT code, when they are there.
 */
uint32_t lode_sampled_files_add(
	LodeSampledFiles *self, uint32_t pid, const LodePerfMapping *mapping);

/* Looks for the code made at run time that a mapping tells of, as adding it does. */
void lode_sampled_files_find_code(
	LodeSampledFiles *self, uint32_t pid, const LodePerfMapping *mapping);

/* Ends a recording: takes the build-ids of its own table for files whose mappings have none. The
 * same path in the next one may be another file. */
void lode_sampled_files_set_build_ids(LodeSampledFiles *self, const LodePerfInfo *info);

/* Where a run-time address of a process lies; `range` NULL: unmapped. The time is for code made at
 * run time; UINT64_MAX: not known. */
LodeSampledOutcome lode_sampled_files_place(LodeSampledFiles *self, const LodeMappedRange *range,
	uint32_t pid, uint64_t time_ns, uint64_t address, LodeSampledPlace *out_place);

const char *lode_sampled_outcome_reason(LodeSampledOutcome outcome);
