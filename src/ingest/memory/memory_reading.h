/* SPDX-License-Identifier: MIT */
/*
 * The data side of perf.data, read beside the samples' places: threads, all mappings, and for each
 * sample the data address that it is charged to.
 *
 *   first pass:  mappings, forks, execs ─▶ address spaces over time, threads
 *   second pass: sample ─▶ registers ─▶ rule ─▶ address ─▶ validated ─▶ LodeReadAccess
 *
 * What the addresses are of is worked out when the recording is joined; see join_memory.c.
 * Private to ingest/.
 */
#pragma once

#include "process/address_space.h"
#include "process/allocations.h"
#include "process/call_tree.h"
#include "process/code_images.h"
#include "process/threads.h"
#include "sources/allocation_log.h"
#include "sources/perf_data.h"

/* A row of the profile's memory to be, and where its instructions lie. */
typedef struct {
	LodeMemorySample sample; /* thread and mapping are indexes into this reading's arrays, event
	                            is a name's; instructions and objects are not known yet */
	uint32_t image;          /* of LodeCodeImages; LODE_NONE: unknown */
	uint32_t input;          /* the recording that it is of */
	uint32_t caller;         /* of the call tree; LODE_NONE: not known */
	uint8_t operand;         /* the decoder's number of it */
	bool has_no_operand;     /* that the access is to */
	bool is_push;            /* a store that no operand shows: of a call, or push */
	uint64_t base; /* somewhere in what is accessed, where the address is lost; 0: unknown */
	uint32_t base_mapping; /* as sample.mapping */
	LodeAccessedFrame frame;
	uint32_t first_way, n_ways;         /* of an ambiguous one; n_ways 0: not all are known */
	uint64_t image_pc, image_access_pc; /* addresses in the image */
} LodeReadAccess;

/* A store that took away the line of an access, or several that are alike. */
typedef struct {
	LodeReadAccess access; /* of the store; only the thread and the code are known */
	uint32_t row;          /* of the access that missed then */
	uint32_t size;
	uint64_t address; /* of what it stored, in the line */
	uint64_t n;       /* of the misses */
} LodeReadLineStore;

/* One of the ways on which an ambiguous sample may have come, and what is charged then. */
typedef struct {
	uint64_t source;        /* the last instruction on it, in the image; 0: a return to there */
	uint32_t first, n_rows; /* of the way's rows */
} LodeReadWay;

typedef struct {
	LodeMemoryMapping mapping; /* names are the reading's */
	uint64_t offset;           /* of its start in the file */
	uint32_t input;
	uint32_t stack_of; /* the reading's number of the thread whose stack it is; LODE_NONE */
} LodeReadMapping;

typedef struct LodeMemoryReading LodeMemoryReading;

/* Borrows the images, where those that samples lie in are added. */
LodeMemoryReading *lode_memory_reading_new(LodeCodeImages *images);
void lode_memory_reading_free(LodeMemoryReading *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryReading, lode_memory_reading_free)

/* Begins a recording: what follows is of this one, until another number comes. They count from 0.
 */
void lode_memory_reading_select(LodeMemoryReading *self, uint32_t input);

/* The first pass: any record but samples. */
void lode_memory_reading_note(
	LodeMemoryReading *self, const LodePerfRecord *record, uint64_t time_ns);

/* Of the selected recording a process is known from `begin_ns` to `end_ns`: nothing is mapped
 * outside. Before its mappings. */
void lode_memory_reading_limit(
	LodeMemoryReading *self, uint32_t pid, uint64_t begin_ns, uint64_t end_ns);

/* Ends the first pass of the selected recording; `info` may be NULL. */
void lode_memory_reading_freeze(LodeMemoryReading *self, const LodePerfInfo *info);

/* A place in code, as the sampled files know it. */
typedef struct {
	const char *path;     /* of the image; NULL: it lies in none */
	const char *build_id; /* may be NULL */
	uint64_t image_pc;
} LodeSampledPlaceOf;

/* A sample of the second pass, and what is known of its place. */
typedef struct {
	const LodePerfRecord *record;
	const LodePerfEvent *event;
	const char *event_name; /* in the profile */
	uint64_t time_ns;
	double weight;
	LodeSampledPlaceOf code;
	uint32_t caller; /* of the call tree: what called the sampled code; LODE_NONE: not known */
	/* Where another run-time address of the process lies then; false: no code is there. */
	bool (*place)(void *data, uint64_t address, LodeSampledPlaceOf *out_code);
	void *data;
} LodeSampledAccess;

void lode_memory_reading_add(LodeMemoryReading *self, const LodeSampledAccess *access);

/* The tree that the callers of samples are of; borrowed. NULL: none are recorded. */
void lode_memory_reading_set_call_tree(LodeMemoryReading *self, const LodeCallTree *tree);

/* Charge samples to the next access, not to the one that waited; before the second pass. */
void lode_memory_reading_set_next_access(LodeMemoryReading *self);

/*
 * Replaces ambiguous rows by those of one of their ways: `choose` gives its number among
 * first_way … of the row, or LODE_NONE for the row to stay as it is.
 */
void lode_memory_reading_settle(LodeMemoryReading *self,
	uint32_t (*choose)(const LodeReadAccess *row, const LodeReadWay *ways, void *data),
	void *data);

/* The number of an event of this name, for LodeMemorySample.event. */
uint32_t lode_memory_reading_event(LodeMemoryReading *self, const char *name);

/* A row of which all is known but the mapping that its address is in. */
void lode_memory_reading_add_traced(
	LodeMemoryReading *self, uint32_t pid, const LodeReadAccess *access);

/* What took away the line of the row that was added last; its `row` is filled in. */
void lode_memory_reading_add_line_store(LodeMemoryReading *self, const LodeReadLineStore *store);

/* The recorder laid out the program's memory without anything random. */
void lode_memory_reading_set_fixed_addresses(LodeMemoryReading *self);

/* Functions and libraries, as globs, that are not the site of an allocation; NULL-terminated,
 * borrowed, or NULL. */
void lode_memory_reading_skip_frames(LodeMemoryReading *self, const char *const *globs);
const char *const *lode_memory_reading_skipped_frames(const LodeMemoryReading *self);

/* Takes an allocation log over; all of them before the second pass. */
void lode_memory_reading_take_log(LodeMemoryReading *self, LodeAllocationLog *log);

/* What could not be told, as unresolved: of the logs, and threads that are too many. */
void lode_memory_reading_account(const LodeMemoryReading *self, LodeRecording *recording);

/* Whether any sample had registers or a data address: else there is nothing to tell. */
bool lode_memory_reading_has_addresses(const LodeMemoryReading *self);

/* What was read; borrowed. */
const GArray *lode_memory_reading_accesses(const LodeMemoryReading *self); /* LodeReadAccess */
const GArray *lode_memory_reading_line_stores(
	const LodeMemoryReading *self);                          /* LodeReadLineStore */
bool lode_memory_reading_is_full(const LodeMemoryReading *self); /* accesses are missing */
const LodeCallTree *lode_memory_reading_call_tree(const LodeMemoryReading *self);
const GPtrArray *lode_memory_reading_event_names(const LodeMemoryReading *self); /* char * */
const GArray *lode_memory_reading_mappings(const LodeMemoryReading *self); /* LodeReadMapping */
LodeAllocations *lode_memory_reading_logs(LodeMemoryReading *self);
GArray *lode_memory_reading_pages(LodeMemoryReading *self); /* LodeMemoryPages, to be filled */
LodeCodeImages *lode_memory_reading_images(LodeMemoryReading *self);
LodeThreads *lode_memory_reading_threads(LodeMemoryReading *self);
bool lode_memory_reading_is_stall_weighted(const LodeMemoryReading *self);
bool lode_memory_reading_has_fixed_addresses(const LodeMemoryReading *self);

/* The mapping that an address was in, in any of the recordings, at the end of the program that a
 * process ran at that time; LODE_NONE. */
uint32_t lode_memory_reading_find_mapping(
	LodeMemoryReading *self, uint32_t pid, uint64_t address, uint64_t time_ns);

/* Says which mappings are stacks of which threads, once all accesses are there: a mapping that one
 * thread after the other had as its stack becomes one mapping for each. */
void lode_memory_reading_name_stacks(LodeMemoryReading *self);

/* How the address space of a process in a recording came about. */
LodeAddressSpaceBirth lode_memory_reading_find_birth(
	LodeMemoryReading *self, uint32_t input, uint32_t pid, uint64_t time_ns);
