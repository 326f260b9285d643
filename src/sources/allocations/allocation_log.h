/* SPDX-License-Identifier: MIT */
/*
 * The log that the preloaded recorder wrote of a process: allocations, with the calls that led to
 * them, and threads. The layout is in docs/reference/formats/allocation-log.md; times are of
 * CLOCK_MONOTONIC.
 *
 * A log that ends early (the process was killed) is read as far as it is whole: that is not an
 * error, but the summary says so. Where records are missing, blocks that were never freed end with
 * the last record.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
	LODE_ALLOCATION_MALLOC,
	LODE_ALLOCATION_CALLOC,
	LODE_ALLOCATION_REALLOC,
	LODE_ALLOCATION_ALIGNED, /* aligned_alloc, posix_memalign, memalign, valloc */
	LODE_ALLOCATION_NEW,     /* operator new of the C++ library */
	LODE_ALLOCATION_MAP,     /* mmap of anonymous memory, mremap */
	LODE_N_ALLOCATION_KINDS,
} LodeAllocationKind;

typedef struct {
	uint64_t address, size;
	uint64_t begin_ns, end_ns; /* end UINT64_MAX: never freed */
	uint32_t tid;
	uint32_t stack; /* of lode_allocation_log_stack(); UINT32_MAX: unknown */
	LodeAllocationKind kind;
} LodeLoggedAllocation;

typedef struct {
	const uint64_t *addresses; /* run-time return addresses, innermost first */
	size_t n;
	uint64_t n_allocations, n_bytes; /* made from here */
	LodeAllocationKind kind;         /* of the last of them: calls are of one kind */
} LodeAllocationStack;

typedef struct LodeAllocationLog LodeAllocationLog;

/* Errors name file and offset: _IO, _CORRUPT, _UNSUPPORTED (another version), _LIMIT. */
LodeAllocationLog *lode_allocation_log_read(const char *path, GError **error);

/* Reads the log of a trace: its times are references, which come after so many others. */
LodeAllocationLog *lode_allocation_log_read_traced(
	const char *path, uint64_t first_time_ns, GError **error);
void lode_allocation_log_free(LodeAllocationLog *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeAllocationLog, lode_allocation_log_free)

/* Whether the first bytes of a file look like one. */
bool lode_allocation_log_is_format(const char *data, size_t size);

typedef struct {
	uint32_t pid, parent;
	uint64_t begin_ns; /* when the log began: at the start of the program or after a fork */
	uint64_t
		last_ns; /* of the last record; what ends later was not seen to be freed; 0: none */
	uint64_t n_unseen;   /* calls that the recorder could not note */
	uint64_t n_dropped;  /* records that it had no room for */
	bool has_own_malloc; /* the program's, which the recorder could not follow */
	bool is_truncated;
} LodeAllocationLogSummary;

/*
 * A process that executes another program has a log for each, and so have two processes of one
 * number: the log of a sample is the last one of its pid that began before it. Blocks allocated
 * before a fork are in the log of the parent; the child's frees of them are in the child's.
 */
const LodeAllocationLogSummary *lode_allocation_log_summary(const LodeAllocationLog *self);
uint32_t lode_allocation_log_pid(const LodeAllocationLog *self);

/* All of them: blocks of the heap by begin, then mappings, in pieces where they were cut. */
const LodeLoggedAllocation *lode_allocation_log_allocations(
	const LodeAllocationLog *self, size_t *out_n);

/* The allocation that held an address at that time; NULL: none. Borrowed. Fast: called for each
 * sample. `time_ns` UINT64_MAX: the last one there. */
const LodeLoggedAllocation *lode_allocation_log_find(
	const LodeAllocationLog *self, uint64_t address, uint64_t time_ns);

/* Whether this process, a child, had freed by then the block at `address` from the time before it
 * was forked: `inherited`, of the log of an ancestor. */
bool lode_allocation_log_has_given_back(const LodeAllocationLog *self,
	const LodeLoggedAllocation *inherited, uint64_t address, uint64_t time_ns);

size_t lode_allocation_log_n_stacks(const LodeAllocationLog *self);
LodeAllocationStack lode_allocation_log_stack(const LodeAllocationLog *self, size_t index);

/* Threads in the order of their creation, the first one first. */
typedef struct {
	uint32_t tid;
	uint64_t begin_ns;
	uint64_t pointer; /* of the thread: on x86-64 the base of %fs */
} LodeLoggedThread;
const LodeLoggedThread *lode_allocation_log_threads(const LodeAllocationLog *self, size_t *out_n);
