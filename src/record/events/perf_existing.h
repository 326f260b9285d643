/* SPDX-License-Identifier: MIT */
/*
 * The state before the recording, from /proc, as the records that the kernel would have written: a
 * process with its threads, names and mappings; the kernel and its modules.
 */
#pragma once

#include "images/elf/mapped_file.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The threads (pid_t) of a process. Errors: _NOT_FOUND when there is none. */
GArray *lode_perf_existing_threads(pid_t pid, GError **error);

typedef struct {
	pid_t pid;
	uint64_t sample_type; /* of the events: what stands after each record */
	bool has_data;        /* also mappings that are not executable */
	const char *proc;     /* "/proc" */
	/* A mapping that is executable, of a file or not. */
	void (*found)(const LodeMappedFile *mapped, void *user_data);
	void *user_data;
	uint64_t time_ns; /* of the records of mappings */
	/* Whether a mapping is wanted; NULL: all are. */
	bool (*is_wanted)(uint64_t start, uint64_t end, const char *name, void *filter_data);
	void *filter_data;
} LodePerfExisting;

/* COMM, FORK and MMAP2 records of one time; what has ended meanwhile is left out. */
GByteArray *lode_perf_existing_records(const LodePerfExisting *wanted);

/* Appends the MMAP2 records alone. */
void lode_perf_existing_add_mappings(const LodePerfExisting *wanted, GByteArray *out_records);

/*
 * The MMAP records of the kernel and its modules, as perf writes them; none where the kernel hides
 * its addresses (kernel.kptr_restrict).
 */
GByteArray *lode_perf_existing_kernel(const char *proc, uint64_t sample_type);
