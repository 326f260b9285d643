/* SPDX-License-Identifier: MIT */
/*
 * Replays a trace through caches, many hierarchies in one pass, without a text form in between.
 *
 *   frame ──▶ of each hierarchy: fetches and data references ─▶ level 1 ─miss─▶ level 2 ─miss─▶ …
 *
 * A reference that crosses a line accesses both; it is one access, and one miss if either misses.
 * How a modify counts, what a prefetch counts for, and how inclusion is kept is in
 * docs/reference/caches.md.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"
#include "traces/blocks/code_pieces.h"
#include "traces/blocks/word_filter.h"
#include "traces/frames/trace_frame.h"

/* Why a demand access missed. With one core, by Hill: the line was never here; a fully associative
 * LRU cache of this size would miss too; the rest. With several cores, before these two last: the
 * line was here and another core's store took it away. */
typedef enum {
	LODE_MISS_COMPULSORY,
	LODE_MISS_CAPACITY,
	LODE_MISS_CONFLICT,
	LODE_MISS_TRUE_SHARING,  /* the other core wrote bytes that this one now needs */
	LODE_MISS_FALSE_SHARING, /* it wrote other bytes of the line */
	LODE_N_MISS_CLASSES,
} LodeMissClass;

/* The counts of one cache, over all its copies (one for each core where it is private). */
typedef struct {
	uint64_t accesses[LODE_N_REFERENCE_KINDS]; /* demand, by what the program did */
	uint64_t misses[LODE_N_REFERENCE_KINDS];
	uint64_t classes[LODE_N_MISS_CLASSES]; /* Σ = Σ misses, if requested; else all 0 */
	uint64_t cold_misses; /* of these, where the set, or that of a level before, had room: with
	                         more references before, they might have hit */
	uint64_t write_backs; /* dirty lines that went to the next level */
	uint64_t invalidations;     /* lines taken away by stores of other cores */
	uint64_t prefetches;        /* lines brought in ahead */
	uint64_t useful_prefetches; /* of these, hit by a demand access before they went */
} LodeCacheCounts;

/* Σ of accesses or misses of all kinds. */
static inline uint64_t lode_cache_counts_sum(const uint64_t kinds[LODE_N_REFERENCE_KINDS])
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LODE_N_REFERENCE_KINDS; i++)
		sum += kinds[i];
	return sum;
}

/* A store to a line, by another core than the one that misses it. */
typedef struct {
	uint64_t instruction; /* its run-time address; 0: not known */
	uint16_t thread;
	uint16_t first, last; /* bytes of the line */
} LodeCacheStore;

/* A demand miss. Given in program order of its hierarchy. */
typedef struct {
	uint32_t hierarchy;
	uint32_t cache; /* index into LodeHierarchy.caches */
	uint32_t block; /* id in the frame's dictionary */
	uint16_t thread;
	uint8_t instruction; /* in the block */
	uint8_t slot;        /* of the data reference; 255: the fetch of the instruction */
	uint8_t kind;        /* LodeReferenceKind */
	uint8_t miss_class;  /* LodeMissClass; LODE_N_MISS_CLASSES: not requested */
	uint32_t size;
	uint64_t address;
	uint64_t reference; /* its number in the trace */
	/* For a miss due to sharing in the first level of data, the store that took the line away,
	 * if requested: see line_stores.h. */
	bool has_store;
	LodeCacheStore store;
	uint64_t lost_line; /* the address of its first byte */
} LodeCacheMiss;

typedef void (*LodeCacheMissFunc)(const LodeCacheMiss *miss, void *user_data);

typedef struct {
	unsigned threads;  /* workers, over which hierarchies are spread; 0: all processors */
	bool classifies;   /* fill `classes` */
	bool names_stores; /* misses due to sharing name the store; needs the above and on_miss */
	LodeCacheMissFunc on_miss; /* NULL: none; called by workers, one at a time a hierarchy */
	void *user_data;
} LodeCacheSimulationOptions;

/* The memory of all hierarchies and their workers. The lines that `classifies` has to remember
 * cannot be foreseen, 22 to 43 bytes for each line that a cache ever looked up. */
#define LODE_CACHE_SIMULATION_MAX_BYTES (UINT64_C(4) << 30)

typedef struct LodeCacheSimulation LodeCacheSimulation;

/* Hierarchies are borrowed while it lives. Errors: _LIMIT (memory). */
LodeCacheSimulation *lode_cache_simulation_new(const LodeHierarchy *const *hierarchies, size_t n,
	const LodeCacheSimulationOptions *options, GError **error);
void lode_cache_simulation_free(LodeCacheSimulation *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeCacheSimulation, lode_cache_simulation_free)

/* All references of a frame; frames in their order. Errors: _LIMIT (memory, cores), after which
 * only free() is allowed. */
bool lode_cache_simulation_replay(
	LodeCacheSimulation *self, const LodeTraceFrame *frame, GError **error);

/* All words of one thread, as a traced program writes them (traces/blocks/code_words.h), without
 * frames in between; adds to `taken`. `pieces` are always the same. False: this works only for one
 * hierarchy of the usual kind whose misses are counted and no more; nothing is done. */
bool lode_cache_simulation_replay_words(LodeCacheSimulation *self, LodeCodePieces *pieces,
	const uint64_t *words, size_t n, LodeWordsTaken *taken);

/* How words may be filtered before, without a change of any count. False: they may not be used. */
bool lode_cache_simulation_word_filter(
	const LodeCacheSimulation *self, LodeWordFilterGeometry *out);

/* References that are replayed while this is off change the contents of the caches, and no count.
 * On at first. */
void lode_cache_simulation_set_counting(LodeCacheSimulation *self, bool is_counting);

/* Makes all caches empty, as they were at first; counts stay. Errors: _LIMIT (memory), after which
 * only free() is allowed. */
bool lode_cache_simulation_empty(LodeCacheSimulation *self, GError **error);

/* Nothing more will be replayed: counts stay, and what takes memory goes. */
void lode_cache_simulation_finish(LodeCacheSimulation *self);

/* So far; borrowed, one for each cache of the hierarchy, in its order. */
const LodeCacheCounts *lode_cache_simulation_counts(
	const LodeCacheSimulation *self, size_t hierarchy);
