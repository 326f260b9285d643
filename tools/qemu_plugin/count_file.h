/* SPDX-License-Identifier: MIT */
/*
 * The file that a process counts in (sources/counts/count_file_format.h), and its arrays in memory.
 * Each array has a range of addresses of its own for all that it may ever hold, into which segments
 * of the file are mapped when they are needed, so that nothing moves:
 *
 *   addresses  │ segment 4 │ segment 9 │ not mapped …                          │ of one array
 *              base                    n_bytes                          max_bytes
 *
 * The mappings are shared with the file: what was written is there whatever ends the process.
 */
#pragma once

#include "sources/counts/count_file_format.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
	uint8_t *base; /* NULL: could not be reserved */
	size_t n_bytes, max_bytes;
	CountSegmentKind kind;
	uint32_t owner;
} CountArray;

/* Makes the file "counts.PID.N" in a folder, with the lowest N that is free. */
bool count_file_create(const char *folder);

/* In a forked process: what the parent counts in is not its own any more. Either all goes into a
 * new file, which begins with the parent's log, all counts 0, or nowhere. */
void count_file_fork(bool is_followed);

/* NULL before count_file_create(). */
CountHeader *count_file_header(void);

/* Reserves addresses. Arrays are kept for good: an owner is used again. */
bool count_array_init(CountArray *array, CountSegmentKind kind, uint32_t owner, size_t max_bytes);

/* Makes the first `n_bytes` usable; new ones are 0. False: no room, on the disk or elsewhere. In
 * any thread. */
bool count_array_extend(CountArray *array, size_t n_bytes);

/* Adds a record to the log, of two parts; counts it as lost when there is no room. The caller makes
 * sure that there is one at a time. */
bool count_file_log(CountRecordKind kind, const void *first, size_t first_bytes, const void *second,
	size_t second_bytes);
