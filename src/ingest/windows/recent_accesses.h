/* SPDX-License-Identifier: MIT */
/*
 * The recent accesses of a stretch of a window: its cache lines, the last one used first, and the
 * stores of the last 100 steps.
 *
 *   lines    │ l │ k │ b │ a │ …
 *   stores   │ step, address, size │ …
 *
 * When the line a is used again, the lines before it were used since then; those of its set have
 * the same number modulo the number of sets. It is moved to the front. For a load, the last store
 * to any of its bytes is found.
 *
 * Reuse from before the stretch is not known and never counted. Private to ingest/windows/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	/* A first level of 32 KiB, used where the machine's is not known. The index of a set lies
	 * within a page, so that it is known from a virtual address: there are at most 64 sets. */
	LODE_RECENT_LINE = 64,
	LODE_RECENT_SETS = 64,
	LODE_RECENT_WAYS = 8,
	LODE_RECENT_MAX_WAYS = 16,
	LODE_RECENT_MAX_LINES = LODE_RECENT_SETS * LODE_RECENT_MAX_WAYS / 2,
	LODE_RECENT_STEPS = 100, /* about as many instructions are in work at a time */
	LODE_RECENT_STORES = 2 * LODE_RECENT_STEPS,
};

typedef struct {
	uint64_t address;
	uint32_t size, step;
} LodeRecentStore;

typedef struct {
	uint64_t lines[LODE_RECENT_MAX_LINES]; /* numbers of lines, no two equal */
	unsigned n_lines;
	uint32_t n_sets, n_ways;                    /* of the first level */
	LodeRecentStore stores[LODE_RECENT_STORES]; /* a ring */
	unsigned n_stores;                          /* so far */
} LodeRecentAccesses;

/* Begins with a first level of so many sets and ways. If they are 0, or larger than the limits, the
 * form above is taken. */
void lode_recent_accesses_begin(LodeRecentAccesses *self, uint32_t n_sets, uint32_t n_ways);

/* Forgets all: something else was accessed in between. */
void lode_recent_accesses_forget(LodeRecentAccesses *self);

/*
 * Uses the lines of an access. True: one of them had been used before, and since then as many other
 * lines of its set as that has ways, but fewer lines in all than half of the cache has. A cache
 * with more ways would have kept it; so would one whose sets share the lines evenly.
 */
bool lode_recent_accesses_use(LodeRecentAccesses *self, uint64_t address, uint32_t size);

void lode_recent_accesses_store(
	LodeRecentAccesses *self, uint64_t address, uint32_t size, uint32_t step);

/* The last store, of the LODE_RECENT_STEPS steps before, to any byte of a load; NULL: none.
 * `out_is_whole`: it wrote all of them. */
const LodeRecentStore *lode_recent_accesses_find_store(const LodeRecentAccesses *self,
	uint64_t address, uint32_t size, uint32_t step, bool *out_is_whole);
