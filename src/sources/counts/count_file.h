/* SPDX-License-Identifier: MIT */
/*
 * The counts of the plugin in QEMU for one process: a file of sources/counts/count_file_format.h,
 * read whole and added up over all threads. The process may still be running. The file is not
 * trusted: all numbers of blocks are checked.
 */
#pragma once

#include "sources/counts/count_file_format.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* Times are numbers of records of the log, from 0. */
typedef struct {
	CountMapping mapping;
	const char *path; /* valid UTF-8 or not, as the process had it */
	uint32_t time;
} LodeCountMapping;

typedef struct {
	uint64_t address; /* run-time */
	uint64_t time_ns; /* of its translation, CLOCK_MONOTONIC */
	uint64_t count;   /* executions begun; sums here stop at UINT64_MAX */
	const uint8_t *sizes, *bytes;
	const uint8_t *fixed; /* CountFixedEvent × n_fixed, at any address: those of instructions
	                       * of the block, in columns of the events */
	uint32_t n_fixed;
	uint32_t first_instruction;
	uint32_t time;
	uint16_t n_instructions, n_bytes;
} LodeCountBlock;

/* Control went from one block to another; of block 0: a thread began. */
typedef struct {
	uint32_t source, target;
	uint64_t count;
} LodeCountExit;

/* A signal's handler came between `source` and `target`. */
typedef struct {
	uint32_t source, handler, target;
	bool is_fault;
	uint64_t count;
} LodeCountInterruption;

/* A handler of a signal that instructions raise began after `source` or inside it. */
typedef struct {
	uint32_t source, handler;
	uint64_t count;
} LodeCountFault;

typedef struct {
	uint32_t pid, parent_pid;
	uint64_t start_ns;
	bool is_forked;
	GPtrArray *arguments;   /* const char *: argv[0], path, other arguments; may be empty */
	const char *executed;   /* what the process became after that; NULL: nothing */
	GArray *mappings;       /* LodeCountMapping, by time */
	GArray *blocks;         /* LodeCountBlock; the first is block 0, which is nothing */
	GArray *exits;          /* LodeCountExit, by source and target */
	GArray *interruptions;  /* LodeCountInterruption, by source */
	GArray *faults;         /* LodeCountFault, by source and handler */
	GPtrArray *event_names; /* const char * */
	const char *caches;     /* that the events are of, as the plugin is given them… */
	const char *branches;   /* …and the predictor; NULL: unknown */
	uint64_t *events;       /* instructions × events, but fixed ones; NULL: none */
	uint32_t n_instructions;
	uint32_t n_forks;        /* processes that it made */
	uint64_t n_lost_threads; /* not counted for want of room */
	uint64_t n_lost_blocks;  /* likewise: executions */
	uint64_t n_lost_records; /* likewise: mappings, or code */
	uint64_t n_late; /* executions of blocks whose records were written after we read them */
	char *log;       /* private */
	GStringChunk *strings; /* private */
} LodeCountFile;

bool lode_count_file_is_format(const char *data, size_t size);

/* The caller owns the result. Errors name the file and the offset: _IO, _CORRUPT, _LIMIT. */
LodeCountFile *lode_count_file_read(const char *path, GError **error);
void lode_count_file_free(LodeCountFile *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCountFile, lode_count_file_free)

/*
 * How many instructions a process has executed so far, by a file that is still written to: fast
 * enough to be called each second. 0 if nothing can be read. Counts each block to its end.
 */
uint64_t lode_count_file_progress(const char *path);
