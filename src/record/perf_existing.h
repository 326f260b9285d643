/* SPDX-License-Identifier: MIT */
/*
 * A process that ran before its recording: its threads, names and mappings, from /proc, as the
 * records that the kernel would have written.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The threads (pid_t) of a process. Errors: _NOT_FOUND when there is none. */
GArray *lode_perf_existing_threads(pid_t pid, GError **error);

typedef struct {
	pid_t pid;
	uint64_t sample_type; /* of the events: what stands behind each record */
	bool has_data;        /* also mappings that are not executable */
	const char *proc;     /* "/proc" */
	void (*found)(const char *path, void *user_data); /* a mapping that is executable */
	void *user_data;
} LodePerfExisting;

/* COMM, FORK and MMAP2 records of time 0; what has ended meanwhile is left out. */
GByteArray *lode_perf_existing_records(const LodePerfExisting *wanted);
