/* SPDX-License-Identifier: MIT */
/* The threads, mappings and pages of a process. */
#pragma once

#include <stdint.h>

typedef struct {
	uint32_t pid, tid;
	uint32_t ordinal; /* in its process: 0 the first thread, k the k-th that was created */
	char *name;       /* the command's; NULL: unknown */
	uint64_t begin_ns, end_ns; /* end UINT64_MAX: lived on */
} LodeThread;

/* When a thread ran, by its context switches. In the rest of its life it waited. */
typedef struct LodeThreadTime {
	char *name; /* NULL: unknown */
	uint32_t pid, tid;
	/* Its life as far as it was recorded, by the recording's clock. */
	uint64_t begin_ns, end_ns;
	double running_ns;
	double preempted_ns; /* waiting for a processor: it could have gone on */
	double switches;     /* how often it began to run */
} LodeThreadTime;

typedef struct {
	uint32_t pid;
	uint32_t protection; /* PROT_… */
	uint64_t start, end; /* [start, end) */
	uint64_t begin_ns;   /* since when; a later one covers an earlier one */
	char *name; /* a path, "[heap]", "[stack]", "[stack of thread 3]", "[shared memory]",
	               "[anon]" */
} LodeMemoryMapping;

/* Pages that existed when they were read from the kernel: all of one size, on one node. */
typedef struct {
	uint32_t pid;
	uint32_t node;
	uint64_t start, end;      /* [start, end) */
	uint64_t page_size_bytes; /* 0: unknown */
	uint64_t time_ns;         /* rows of one look have the same */
} LodeMemoryPages;
