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
 * Where many threads of all processes have a chunk, one that makes a system call ends its own and
 * has none until it goes on: it may wait there for others, which need one.
 *
 * All processes that are traced share the memory, so that it is bounded however many there are. A
 * new program in a process is a new process here: its addresses mean something else.
 *
 * Whatever kills a process leaves its open chunks readable, and the others go on: the lock knows
 * when who held it has died, and what is done under it is undone by the next.
 */
#pragma once

#include "traces/blocks/word_filter.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#define TRACE_RING_MAGIC UINT64_C(0x3630474e4952544c) /* "LTRING06" */

enum {
	TRACE_RING_CHUNKS = 2048,
	TRACE_RING_MANY_OPEN = TRACE_RING_CHUNKS / 4, /* from here on one who may wait has none */
	TRACE_PAGE_BYTES = 4096,                      /* what a mapping is aligned to */
	TRACE_CHUNK_BYTES = 8192,
	TRACE_CHUNK_HEADER_BYTES = 64,
	TRACE_CHUNK_WORDS = (TRACE_CHUNK_BYTES - TRACE_CHUNK_HEADER_BYTES) / (int)sizeof(uint64_t),
	TRACE_CHUNK_SHARED_WORDS = 256,   /* of one of several threads, that they take turns */
	TRACE_RING_CODE_BYTES = 32 << 20, /* of which few are touched */
	TRACE_RING_CODE_UNITS = TRACE_RING_CODE_BYTES / LODE_CODE_UNIT_BYTES,
	TRACE_RING_CODE_INDEX_BITS = 20,
	TRACE_RING_MAX_FUNCTIONS = 4096,
	TRACE_RING_MAX_PROCESSES = 1 << 16,
	TRACE_EVENT_PATH_BYTES = 4096,
};

/* By which the preloaded recorder of allocations wants to know the time: LOG_TICK_CALL, see
 * tools/preload/allocations/log_format.h. */
enum { TRACE_TICK_CALL = 0x10de71c };

/* The lowest bits of a chunk's state; above them stands the process that has it. */
enum {
	TRACE_CHUNK_FREE,  /* and nothing above */
	TRACE_CHUNK_TAKEN, /* by a thread that is about to open it */
	TRACE_CHUNK_OPEN,  /* until lode has read it */
	TRACE_CHUNK_STATE_BITS = 2,
};

/* Events that a chunk can hold instead of words, one each. */
typedef enum {
	TRACE_EVENT_NONE,    /* words */
	TRACE_EVENT_IMAGE,   /* was mapped when the program started; not its protection */
	TRACE_EVENT_START,   /* those were all */
	TRACE_EVENT_PROCESS, /* the first of each: TRACE_PROCESS_…, its command line in `path` */
	TRACE_EVENT_MAP,     /* mmap, brk, mremap, shmat */
	TRACE_EVENT_PROTECT, /* mprotect */
	TRACE_EVENT_NAME,    /* of the thread, in `path` */
	TRACE_EVENT_EXEC,    /* a program that is not traced is about to take the place: `path` */
	TRACE_EVENT_NO_EXEC, /* …which it did not */
	TRACE_EVENT_FORK,    /* a process was made that is not traced */
	TRACE_EVENT_TICK,    /* the time is wanted: at `start`, in the allocation log `size` */
	TRACE_N_EVENTS,
} TraceEventKind;

typedef struct {
	uint64_t start, size, offset; /* of a mapping, in the program's own addresses; of a process:
	                                 its PID, and of which process it is a copy */
	uint32_t protection;          /* PROT_… */
	uint32_t kind;                /* of a mapping: TRACE_MAPPING_…; of a process */
	char path[TRACE_EVENT_PATH_BYTES];
} TraceEvent;

enum {
	TRACE_MAPPING_FILE, /* `path`; of what was found at the start "" where it has none */
	TRACE_MAPPING_ANONYMOUS,
	TRACE_MAPPING_HEAP,
	TRACE_MAPPING_STACK,
	TRACE_MAPPING_MOVED, /* what lay at `offset` */
};

enum {
	TRACE_PROCESS_PROGRAM, /* a program that begins */
	TRACE_PROCESS_PASSED,  /* likewise, of which nothing is recorded */
	TRACE_PROCESS_FORKED,
};

typedef struct {
	_Atomic uint32_t state;
	_Atomic uint32_t n;      /* words */
	_Atomic uint64_t opened; /* counts up: chunks by it are in the order of their beginning */
	uint32_t thread;         /* numbered by the plugin */
	uint32_t tid;
	uint32_t event;   /* TraceEventKind */
	uint32_t process; /* numbered as they began, from 0 */
	char reserved[TRACE_CHUNK_HEADER_BYTES - 36];
	union {
		uint64_t words[TRACE_CHUNK_WORDS]; /* see traces/blocks/code_words.h */
		TraceEvent details;
	};
} TraceChunk;

typedef struct {
	uint64_t magic;
	int64_t reader_pid;
	_Atomic uint32_t reader_beat; /* counts up while lode lives */
	_Atomic uint32_t has_stopped; /* by lode: nothing more is wanted */
	sem_t n_queued, n_free;
	pthread_mutex_t lock; /* robust; around next_stamp and what it puts into the queue */
	_Atomic uint64_t next_stamp, next_opened;
	_Atomic uint64_t next_free; /* where to look for a free chunk: this % n, and on */
	_Atomic uint64_t n_read;    /* stamps that lode is done with */
	_Atomic int32_t n_open;     /* chunks that threads have; about so many */
	_Atomic uint32_t n_untraced_threads, n_untraced_processes;
	_Atomic uint32_t n_processes;
	_Atomic uint32_t n_code_units;             /* of `code`; may be more than there are */
	_Atomic uint32_t queue[TRACE_RING_CHUNKS]; /* chunk + 1 at stamp % n; 0: not there yet */

	LodeWordFilterGeometry filter; /* of all words; set before the program runs */

	/* Where the functions begin inside which alone is traced, in a process's own addresses:
	 * lode adds to them when a file was mapped, which the plugin waits for. */
	uint32_t has_functions;
	_Atomic uint32_t n_functions;
	struct {
		uint64_t address;
		uint32_t process;
	} functions[TRACE_RING_MAX_FUNCTIONS];

	_Atomic uint8_t is_stopped[TRACE_RING_MAX_PROCESSES]; /* by lode, when it wants no more of a
	                                                         process */

	_Alignas(TRACE_PAGE_BYTES) TraceChunk chunks[TRACE_RING_CHUNKS];

	/* The pieces of code of all processes, LodeCodeDescription each, which never change: a
	 * forked process uses its parent's, and a piece is shared once. The index has the number +
	 * 1 of a piece at a hash of its bytes, or in one of the next places; 0: free. */
	_Atomic uint32_t code_index[1 << TRACE_RING_CODE_INDEX_BITS];
	_Alignas(LODE_CODE_UNIT_BYTES) uint8_t code[TRACE_RING_CODE_BYTES];
} TraceRing;

_Static_assert(sizeof(TraceChunk) == TRACE_CHUNK_BYTES, "a chunk is of the size it is said to be");
