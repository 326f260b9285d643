/* SPDX-License-Identifier: MIT */
/*
 * The data side of perf.data, read beside the samples' places: threads, all mappings, and for each
 * sample the data address that it is charged to.
 *
 *   first pass:  forks, execs ─▶ threads
 *   second pass: sample ─▶ registers ─▶ rule ─▶ address ─▶ validated ─▶ LodeReadAccess
 *
 * The join finds the object at each address; see join_memory.c.
 * Private to ingest/.
 */
#pragma once

#include "base/arrays/name_table.h"
#include "model/memory.h"
#include "process/allocations.h"
#include "process/call_tree.h"
#include "process/places.h"
#include "process/threads.h"
#include "sources/allocations/allocation_log.h"
#include "sources/allocations/heap_log.h"
#include "sources/perf_data/perf_data.h"

/* A row of the profile's memory to be, and where its instructions lie. */
typedef struct LodeReadAccess {
	LodeMemorySample sample; /* thread and mapping are indexes into this reading's arrays, event
	                            is a name's; instructions and objects are not known yet */
	uint32_t image;          /* of LodeCodeImages; LODE_NONE: unknown */
	uint32_t input;          /* the recording that it is of */
	uint32_t caller;         /* of the call tree; LODE_NONE: not known */
	uint8_t operand;         /* the decoder's number of it */
	bool has_no_operand;     /* that the access is to */
	bool is_push;            /* a store that no operand shows: of a call, or push */
	uint64_t map_call; /* where the call of a Go map's function, which the access is of, returns
	                      to, in the image; 0: none */
	bool is_of_strings; /* a function for keys that are strings */
	uint64_t base; /* somewhere in the accessed object, where the address is lost; 0: unknown */
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
	uint64_t address; /* of the stored bytes, in the line */
	uint64_t n;       /* of the misses */
} LodeReadLineStore;

/* One of the ways on which an ambiguous sample may have come, and the access charged then. */
typedef struct {
	uint64_t source;        /* the last instruction on it, in the image; 0: a return to there */
	uint32_t first, n_rows; /* of the way's rows */
} LodeReadWay;

typedef struct {
	LodePlaces *places; /* borrowed: of the recordings; a sample's mapping is one of theirs */
	bool charges_next_access; /* in place of the access that a timer waited for */
	/* Functions and libraries, as globs, that are not the site of an allocation;
	 * NULL-terminated, borrowed, or NULL. */
	const char *const *skipped_frames;
	uint64_t max_accesses; /* see LodeImportOptions; 0: all */
} LodeMemoryReadingOptions;

/* Others read it; only this module writes it, except where noted. */
typedef struct LodeMemoryReading {
	LodeMemoryReadingOptions options;
	LodeThreads threads;
	LodeNameTable events;     /* their names in the profile, by LodeMemorySample.event */
	LodeAllocations *logs;    /* all of them are taken before the second pass */
	GPtrArray *heaps;         /* LodeHeapLog, owned, by lode_heap_log_compare() */
	GArray *pages;            /* LodeMemoryPages, for the caller to fill */
	GArray *accesses;         /* LodeReadAccess */
	GArray *line_stores;      /* LodeReadLineStore, by row */
	const LodeCallTree *tree; /* for the caller to set: what the callers of samples are of,
	                             borrowed; NULL: no call chains were recorded */
	bool has_addresses; /* a sample had registers or an address: otherwise nothing is stored */
	/* For the caller to set too: the recording was made for its data, so that instructions get
	 * attributes of it. */
	bool names_operands;
	bool is_stall_weighted;
	/* For the caller to set too: the program's memory was laid out without anything random. */
	bool has_fixed_addresses;
	bool is_full; /* accesses are missing */
	/* Private. */
	GArray *inputs; /* the data of each recording */
	struct LodeThreadStacks *stacks;
	GArray *ways;     /* LodeReadWay, of those that are ambiguous */
	GArray *way_rows; /* LodeReadAccess */
	uint32_t input;
	uint64_t stride;             /* one sample in so many is looked at… */
	uint64_t n_seen, n_left_out; /* …of these; and not at these */
} LodeMemoryReading;

LodeMemoryReading *lode_memory_reading_new(const LodeMemoryReadingOptions *options);
void lode_memory_reading_free(LodeMemoryReading *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeMemoryReading, lode_memory_reading_free)

/* Rows added from now on are of this recording, which the places know; recordings count from 0. */
void lode_memory_reading_select(LodeMemoryReading *self, uint32_t recording);

/* The first pass: what happened to threads. */
void lode_memory_reading_note(
	LodeMemoryReading *self, const LodePerfRecord *record, uint64_t time_ns);

/* Whether a mapping lies where programs or stacks begin when nothing is random. */
bool lode_memory_reading_is_fixed(uint64_t start, uint64_t end);

/* Ends the first pass of the selected recording, after the places; `info` may be NULL. */
void lode_memory_reading_freeze(LodeMemoryReading *self, const LodePerfInfo *info);

/* A sample of the second pass, and its place as far as known. */
typedef struct LodeSampledScripts LodeSampledScripts;
typedef struct LodeSampledAccess {
	const LodePerfRecord *record;
	const LodePerfEvent *event;
	const char *event_name; /* in the profile */
	uint64_t time_ns;
	double weight;
	LodePlace place;
	uint32_t caller; /* of the call tree: what called the sampled code; LODE_NONE: not known */
	/* The frames of a script that led there, the innermost first: borrowed; NULL: none. They
	 * stand for the interpreter's loop and what is outside of it. */
	const LodePlace *script;
	guint n_script;
	const LodeSampledScripts *scripts; /* that they are of */
} LodeSampledAccess;

void lode_memory_reading_add(LodeMemoryReading *self, const LodeSampledAccess *access);

/* Before the samples of a recording: how many come, so that as many are left out as the options
 * say. The others weigh more. */
void lode_memory_reading_expect(LodeMemoryReading *self, uint64_t n_samples);

/* An access of an instruction that was executed step by step, in a window. */
typedef struct {
	LodePlace place; /* of the instruction */
	uint64_t pc, time_ns;
	uint32_t pid, tid;
	const LodeUserRegisters *registers; /* before it */
	LodeDataOperand operand;
	bool has_no_operand;      /* it is a push, a pop or the like */
	LodeAddressReason reason; /* why its address is not known; NONE: it is */
	double weight;            /* accesses that it stands for */
} LodeSteppedSample;

void lode_memory_reading_add_stepped(LodeMemoryReading *self, const LodeSteppedSample *stepped);

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

/* Says which mappings are stacks of which threads, once all accesses are there: a mapping that one
 * thread after the other had as its stack becomes one mapping for each. */
void lode_memory_reading_name_stacks(LodeMemoryReading *self);
