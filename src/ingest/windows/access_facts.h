/* SPDX-License-Identifier: MIT */
/*
 * Facts of the addresses that one instruction accessed in windows, in bounded memory:
 *
 *   addresses ─┬─▶ differences, of one to the next: the most frequent ones
 *              └─▶ lines, pages: how many
 *
 * Differences are counted by "space saving" (A. Metwally, D. Agrawal, A. El Abbadi, ICDT 2005):
 * exact as long as there are no more than LODE_STRIDE_COUNTERS, then at least as often as is said.
 * Lines and pages are exact up to LODE_DISTINCT_KEPT, then estimated by the smallest hashes
 * (Z. Bar-Yossef et al., RANDOM 2002): a standard error of 13 %.
 *
 * Private to ingest/windows/.
 */
#pragma once

#include "model/observed/windows.h"

enum { LODE_STRIDE_COUNTERS = 8, LODE_DISTINCT_KEPT = 64 };

typedef struct {
	int64_t difference;
	uint32_t n, n_over; /* counted, and how many of these at most were other differences */
} LodeStrideCount;

/* The smallest hashes of all values so far, ascending. */
typedef struct {
	uint64_t *hashes;
	uint32_t n, room;
	bool is_more; /* there were others */
} LodeDistinct;

void lode_distinct_add(LodeDistinct *self, uint64_t value);
uint32_t lode_distinct_count(const LodeDistinct *self);
void lode_distinct_clear(LodeDistinct *self);

/* All 0 at first. */
typedef struct {
	uint64_t last_address;
	uint32_t last_stretch; /* 0: none */
	LodeStrideCount strides[LODE_STRIDE_COUNTERS];
	LodeDistinct lines, pages;
} LodeAccessFacts;

/* An access; `stretch` from 1 on says which ones follow each other. Adds to `facts` what can be
 * added up at once: all but stride, strided, lines and pages. */
void lode_access_facts_add(LodeAccessFacts *self, LodeObservedInstruction *facts, uint64_t address,
	uint32_t size, uint32_t stretch);

/* Sets the rest. */
void lode_access_facts_finish(const LodeAccessFacts *self, LodeObservedInstruction *facts);
void lode_access_facts_clear(LodeAccessFacts *self);
