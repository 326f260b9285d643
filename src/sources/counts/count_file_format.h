/* SPDX-License-Identifier: MIT */
/*
 * The file in which the plugin in QEMU counts what one process executes, and which lode reads while
 * it grows or after the process has ended, in whatever way. Plain C without any library, as the
 * plugin is nothing else. Described in docs/reference/formats/counts.md.
 *
 *   header ─ which segment is what
 *   segment 0, 1, 2 …, each COUNT_SEGMENT_BYTES long, each a piece of one array:
 *
 *     log      records: mappings, blocks of code       in the order in which they came about
 *     exits    CountExits for each block   ┐
 *     targets  CountTarget, appended       ├ of one owner: a thread, after its end another one
 *     events   n_events × uint64_t         ┘   for each instruction
 *
 * An array is its segments by their sequence, without gaps between them; a segment that is missing
 * is all zeros. No other thread writes the counts of an owner, so that all counts are exact;
 * readers add up those of all owners.
 *
 * Blocks are numbered from 1 in the order of their records, the instructions of all blocks from 0
 * likewise. Block 0 is outside: control comes from there where a thread begins. A block was
 * executed as often as control came to it.
 */
#pragma once

#include <stdint.h>

#define COUNT_FILE_MAGIC UINT64_C(0x31304e554f43444c) /* "LDCOUN01" */

#define COUNT_NO_EVENT "-"

enum {
	COUNT_FILE_MAX_SEGMENTS = 1 << 15,
	COUNT_SEGMENT_BYTES = 1 << 17, /* of 4 GiB in all */
	COUNT_FILE_MAX_BLOCKS = 1 << 22,
	COUNT_FILE_MAX_OWNERS = 1024,
	COUNT_FILE_MAX_EVENTS = 32,
	COUNT_EVENT_NAME_BYTES = 32,
	COUNT_BLOCK_MAX_INSTRUCTIONS = 512,
	COUNT_RECORD_MAX_BYTES = 1 << 16,
};

typedef enum {
	COUNT_SEGMENT_NONE, /* not there */
	COUNT_SEGMENT_LOG,  /* its owner is 0 */
	COUNT_SEGMENT_EXITS,
	COUNT_SEGMENT_TARGETS,
	COUNT_SEGMENT_EVENTS,
	COUNT_N_SEGMENT_KINDS,
} CountSegmentKind;

typedef struct {
	_Atomic uint32_t kind; /* written last */
	uint32_t owner;
	uint32_t sequence; /* among the segments of its array */
	uint32_t reserved;
} CountSegment;

typedef struct {
	uint64_t magic;
	uint32_t pid, parent_pid;
	uint64_t start_ns;          /* CLOCK_MONOTONIC, as all times here */
	_Atomic uint64_t log_bytes; /* of whole records */
	_Atomic uint32_t n_blocks;  /* with a record; their numbers are up to it */
	_Atomic uint32_t n_instructions;
	_Atomic uint32_t n_segments, n_owners;
	_Atomic uint32_t n_lost_threads; /* not counted, as there was no room for them */
	_Atomic uint32_t n_lost_blocks;  /* likewise, executions of code */
	_Atomic uint32_t n_lost_records;
	uint32_t is_forked; /* the log begins with that of the process that it was forked from */

	/* The events counted for each instruction besides its executions: the columns of a row of
	 * the events, in this order. An event may be 0 in all rows. One whose name begins with
	 * COUNT_NO_EVENT was not counted. */
	uint32_t n_events;
	char event_names[COUNT_FILE_MAX_EVENTS][COUNT_EVENT_NAME_BYTES];

	CountSegment segments[COUNT_FILE_MAX_SEGMENTS];
} CountHeader;

enum {
	/* Where segment 0 begins. */
	COUNT_HEADER_BYTES = (sizeof(CountHeader) + COUNT_SEGMENT_BYTES - 1) / COUNT_SEGMENT_BYTES *
	                     COUNT_SEGMENT_BYTES,
};

/* The exits of a block: the first two blocks that control went on to, and how often; 0: none yet.
 * Further ones are in the targets. */
typedef struct {
	uint64_t counts[2];
	uint32_t targets[2];
	uint32_t reserved[2];
} CountExits;

typedef enum {
	COUNT_TARGET_NONE,
	COUNT_TARGET_EXIT, /* control went on from `source` to `target` */
	/* A signal was handled after or inside `source`: control went from there to `handler`,
	 * which is counted as an exit too, and when the handler returned on to `target`. */
	COUNT_TARGET_RESUMED,
	COUNT_TARGET_FAULTED, /* likewise, of a signal that instructions raise: SIGSEGV, SIGFPE… */
	/* A handler of a signal that instructions raise began after or inside `source`, whether it
	 * returns or not; `target` is `handler`. */
	COUNT_TARGET_FAULT,
} CountTargetKind;

typedef struct {
	uint64_t count;
	uint32_t source, target; /* blocks */
	uint32_t handler;
	_Atomic uint32_t kind; /* written last */
} CountTarget;

typedef enum {
	COUNT_RECORD_PROGRAM = 1, /* texts, each with its NUL: argv[0], path, other arguments */
	COUNT_RECORD_MAPPING,     /* CountMapping, and the path with its NUL */
	COUNT_RECORD_BLOCK,       /* CountBlock, its instructions' sizes, then their bytes */
	COUNT_RECORD_NAME,        /* of a thread: text */
	COUNT_RECORD_EXEC,        /* text: another program is about to take the place of this one */
	COUNT_RECORD_NO_EXEC,     /* …which it did not */
	COUNT_RECORD_FORK,        /* a process was made */
	COUNT_RECORD_EVENTS,      /* CountFixedEvents of the block before it */
	COUNT_RECORD_SIMULATED,   /* texts, each with its NUL: caches (SETS:WAYS:LINE of I1, D1 and
	                             LL, or L2, DTLB and DTLB2 too, with '+' between them), predictor
	                             of branches */
} CountRecordKind;

/* Records begin at multiples of 8. */
typedef struct {
	uint32_t kind;
	uint32_t bytes; /* without this header, and without what fills up to a multiple of 8 */
} CountRecord;

typedef struct {
	uint64_t start, size, offset; /* as in TraceEvent, see record/qemu/trace_ring_format.h */
	uint32_t protection, kind;
	uint32_t event; /* TRACE_EVENT_IMAGE, _START, _MAP or _PROTECT */
	uint32_t reserved;
} CountMapping;

/*
 * One translation of a piece of code. The same code may be in several blocks, which may overlap.
 * The mappings before it in the log say which file its code is from. Its last instruction may be
 * cut short: it is on the next page and not executed as a part of this block.
 */
typedef struct {
	uint64_t address; /* run-time */
	uint64_t time_ns;
	uint32_t first_instruction;
	uint16_t n_instructions;
	uint16_t n_bytes;
} CountBlock;

/* A constant count of an event for each execution of an instruction: the arrays of events have only
 * counts that vary. */
typedef struct {
	uint16_t instruction; /* of the block, from 0 */
	uint8_t event;        /* which column of the events */
	uint8_t count;        /* in each execution */
} CountFixedEvent;
