/* SPDX-License-Identifier: MIT */
/*
 * Memory that lode shares with the program that it traces, of which the plugin in QEMU fills one
 * part and lode empties it. Plain C without any library, as the plugin is nothing else.
 *
 *   free ──▶ a thread's open chunk ──stamped when it ends──▶ queue ──▶ lode ──▶ free
 *
 * Each thread has a chunk of its own, so that threads do not wait for each other. The stamps make
 * one order of the chunks of all threads: that in which they ended. A chunk ends when it is full,
 * in front of a system call or a locked instruction of a program with several threads, so that what
 * one thread wrote before it let another one go is in front of what that one reads.
 *
 * Whatever kills the program leaves the open chunks readable.
 */
#pragma once

#include "traces/reference.h"

#include <semaphore.h>
#include <stdint.h>

#define TRACE_RING_MAGIC UINT64_C(0x3230474e4952544c) /* "LTRING02" */

enum {
	TRACE_RING_CHUNKS = 2048,
	TRACE_PAGE_BYTES = 4096, /* what a mapping is aligned to */
	TRACE_CHUNK_BYTES = 8192,
	TRACE_CHUNK_HEADER_BYTES = 64,
	TRACE_CHUNK_REFERENCES = (TRACE_CHUNK_BYTES - TRACE_CHUNK_HEADER_BYTES) /
	                         (int)sizeof(LodeReference),
	TRACE_RING_MAX_FUNCTIONS = 256,
	TRACE_EVENT_PATH_BYTES = 4096,
};

enum {
	TRACE_CHUNK_FREE,
	TRACE_CHUNK_TAKEN, /* by a thread that is about to open it */
	TRACE_CHUNK_OPEN,
	TRACE_CHUNK_ENDED,
};

/* What else than references a chunk can hold, one each. */
typedef enum {
	TRACE_EVENT_NONE,    /* references */
	TRACE_EVENT_IMAGE,   /* was mapped when the program started; not its protection */
	TRACE_EVENT_START,   /* those were all */
	TRACE_EVENT_MAP,     /* mmap, brk, mremap, shmat */
	TRACE_EVENT_PROTECT, /* mprotect */
	TRACE_EVENT_NAME,    /* of the thread, in `path` */
	TRACE_EVENT_EXEC,    /* another program is about to take the place of this one: `path` */
	TRACE_EVENT_NO_EXEC, /* …which it did not */
	TRACE_EVENT_FORK,    /* a process was made that is not traced */
	TRACE_N_EVENTS,
} TraceEventKind;

typedef struct {
	uint64_t start, size, offset; /* of a mapping, in the program's own addresses */
	uint32_t protection;          /* PROT_… */
	uint32_t kind;                /* of a mapping: TRACE_MAPPING_… */
	char path[TRACE_EVENT_PATH_BYTES];
} TraceEvent;

enum {
	TRACE_MAPPING_FILE, /* `path`; of what was found at the start "" where it has none */
	TRACE_MAPPING_ANONYMOUS,
	TRACE_MAPPING_HEAP,
	TRACE_MAPPING_STACK,
	TRACE_MAPPING_MOVED, /* what lay at `offset` */
};

typedef struct {
	_Atomic uint32_t state;
	_Atomic uint32_t n;      /* references */
	_Atomic uint64_t opened; /* counts up: chunks by it are in the order of their beginning */
	uint32_t thread;         /* numbered by the plugin */
	uint32_t tid;
	uint32_t event; /* TraceEventKind */
	char reserved[TRACE_CHUNK_HEADER_BYTES - 32];
	union {
		LodeReference references[TRACE_CHUNK_REFERENCES]; /* their thread is not set */
		TraceEvent details;
	};
} TraceChunk;

typedef struct {
	uint64_t magic;
	int64_t reader_pid;
	_Atomic uint32_t has_stopped; /* by lode: nothing more is wanted */
	sem_t n_queued, n_free;
	_Atomic uint64_t next_stamp, next_opened;
	_Atomic uint64_t next_free; /* where to look for a free chunk: this % n, and on */
	_Atomic uint64_t n_read;    /* stamps that lode is done with */
	_Atomic uint32_t n_untraced_threads;
	_Atomic uint32_t queue[TRACE_RING_CHUNKS]; /* chunk + 1 at stamp % n; 0: not there yet */

	/* Where the functions begin inside which alone is traced, in the program's own addresses:
	 * lode adds to them when a file was mapped, which the plugin waits for. */
	uint32_t has_functions;
	_Atomic uint32_t n_functions;
	uint64_t functions[TRACE_RING_MAX_FUNCTIONS];

	_Alignas(TRACE_PAGE_BYTES) TraceChunk chunks[TRACE_RING_CHUNKS];
} TraceRing;

_Static_assert(sizeof(TraceChunk) == TRACE_CHUNK_BYTES, "a chunk is of the size it is said to be");
