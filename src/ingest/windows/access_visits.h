/* SPDX-License-Identifier: MIT */
/* What an instruction's accesses in windows tell of its data. Private to ingest/windows/. */
#pragma once

#include "model/observed/windows.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

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
 */

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

/*
 * How much of the cache lines that an instruction comes to is used, in a stretch of a window:
 *
 *   instruction   line a   line b   line b   line c   (the stretch ends)
 *                          ├───── visit ────┤         a: when it came there is not known,
 *                                                     c: it has not left
 *
 * A visit is from the first access of the instruction to a line until its next one to another line.
 * The used bytes are those of the line that any instruction accessed in the stretch, before, in or
 * after the visit.
 */

typedef struct {
	GHashTable *bytes; /* line → a bit for each byte that was accessed */
	GArray *masks;     /* uint64_t, of `bytes` */
	GArray *visits;    /* Visit */
	GArray *last;      /* by number of the code: its line and visit */
	uint32_t stretch;
} LodeLineVisits;

void lode_line_visits_init(LodeLineVisits *self);
void lode_line_visits_clear(LodeLineVisits *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeLineVisits, lode_line_visits_clear)

/* An access of one to many bytes. With `number`, the code's, it may be of a visit, which belongs to
 * the line that it begins in; UINT32_MAX: it only uses bytes. */
void lode_line_visits_add(LodeLineVisits *self, uint32_t number, uint64_t address, uint32_t size);

/* An access of that code whose address is not known. */
void lode_line_visits_break(LodeLineVisits *self, uint32_t number);

/* Ends the stretch: calls `put` for each visit that ended, with its used bytes. */
typedef void (*LodeLineVisitPut)(void *data, uint32_t number, unsigned n_bytes);
void lode_line_visits_end(LodeLineVisits *self, LodeLineVisitPut put, void *data);
