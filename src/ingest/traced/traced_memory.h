/* SPDX-License-Identifier: MIT */
/*
 * The data addresses of an address trace, or of the misses that are simulated: far too many to keep
 * all, so that of each stream every N-th is kept, chosen at random among N that come one after the
 * other. N begins with 1; whenever the room is used up, that of the stream with the most rows is
 * doubled. Private to ingest/traced/.
 */
#pragma once

#include "ingest/traced/traced_counts.h"

typedef struct LodeMemoryReading LodeMemoryReading;
typedef struct LodeTracedMemory LodeTracedMemory;

/* Room for so many rows, of all streams together. */
enum { LODE_TRACED_MEMORY_ROWS = 1 << 19 };

LodeTracedMemory *lode_traced_memory_new(uint32_t n_streams);
void lode_traced_memory_free(LodeTracedMemory *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeTracedMemory, lode_traced_memory_free)

/* Where several traces are read, each has its share of the room, from 0 to 1; accesses already kept
 * beyond it are thinned out, except counted ones. */
void lode_traced_memory_set_share(LodeTracedMemory *self, double share);

/* How many rows are kept, but for those that are counted. */
uint64_t lode_traced_memory_n_rows(const LodeTracedMemory *self);

typedef struct {
	uint64_t address, reference;
	uint32_t size;
	uint32_t instruction; /* of LodeTracedCounts; LODE_NONE */
	uint16_t thread;
	uint8_t kind;    /* LodeReferenceKind, no fetch */
	uint8_t ordinal; /* among the references of this kind by its instruction */
} LodeTracedAccess;

/* Makes it a stream whose accesses are all kept, equal ones once with their number, without using
 * the room of others. After LODE_TRACED_MEMORY_ROWS different ones, further ones are left out. */
void lode_traced_memory_set_counted(LodeTracedMemory *self, uint32_t stream);

/* Adds to a stream of this kind; `reference` does not tell accesses apart. */
void lode_traced_memory_count(
	LodeTracedMemory *self, uint32_t stream, const LodeTracedAccess *access);

/* The store that took the line of a counted access away. */
typedef struct {
	uint64_t address;     /* of the stored bytes, in the line */
	uint32_t instruction; /* of LodeTracedCounts; LODE_NONE */
	uint16_t thread;
	uint16_t size;
} LodeTracedStore;

/* Adds it to the access that was counted last; equal stores of equal accesses are kept once, with
 * their number. After LODE_TRACED_MEMORY_ROWS different ones, further ones are left out. */
void lode_traced_memory_count_store(
	LodeTracedMemory *self, uint32_t stream, const LodeTracedStore *store);

/* How many of it were left out. */
uint64_t lode_traced_memory_left_out(const LodeTracedMemory *self, uint32_t stream);

/* How many of a stream pass by before one is kept: 0, the next one is. */
uint64_t lode_traced_memory_distance(const LodeTracedMemory *self, uint32_t stream);

/* Lets so many of a stream pass by; no more than the distance. */
void lode_traced_memory_pass(LodeTracedMemory *self, uint32_t stream, uint64_t n);

/* The next one of a stream, which is kept. */
void lode_traced_memory_keep(
	LodeTracedMemory *self, uint32_t stream, const LodeTracedAccess *access);

/* 1 of how many was kept, and how many there were. */
uint64_t lode_traced_memory_interval(const LodeTracedMemory *self, uint32_t stream);
uint64_t lode_traced_memory_seen(const LodeTracedMemory *self, uint32_t stream);

/* The accesses kept so far, LodeTracedAccess in their order; borrowed until more are added. */
const GArray *lode_traced_memory_rows(const LodeTracedMemory *self, uint32_t stream);

/* The inputs with which the rows are read. */
typedef struct {
	const LodeTraceDescription *description;
	const LodeTracedRows *rows; /* of the instructions */
	const LodeRecording *recording;
	const char *const *stream_names; /* of their events */
	uint32_t pid;
	uint32_t input;         /* of the reading */
	uint64_t first_time_ns; /* what the trace's first reference stands for: references are time
	                         */
	uint64_t end_time_ns;   /* likewise, after its last one */
	bool is_one_of_many; /* its threads are named after the program where they have no name */
} LodeTracedMemoryContext;

/* Gives mappings, threads and all rows to the reading, in the order of the trace. The weights of a
 * stream add up to all that were seen. */
void lode_traced_memory_finish(const LodeTracedMemory *self, const LodeTracedMemoryContext *context,
	LodeMemoryReading *reading);
