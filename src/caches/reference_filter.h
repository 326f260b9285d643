/* SPDX-License-Identifier: MIT */
/*
 * Leaves out references that change nothing in any cache of some shape: those to the line that was
 * used last of all lines that could share a set with it. They hit, and a second use in a row is
 * like the first for every policy (for SRRIP, a third like the second). Most references of a
 * program are of that kind, and several hierarchies of one shape share the work.
 *
 * Source of the idea: T. Puzak, "Analysis of cache replacement algorithms", University of
 * Massachusetts, 1985 (trace stripping). Private to caches/.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"
#include "caches/sets/block_plans.h"
#include "caches/sets/cache_access.h"

/* Entries of a filter for each of the first-level caches and TLBs, at most. */
enum { LODE_FILTER_MAX_ENTRIES = 1 << 10 };

/* The lines of one of the first-level caches or TLBs. */
typedef struct {
	bool is_there;
	bool counts_second_use; /* a hit right after the fill changes something: SRRIP */
	uint8_t shift;
	uint16_t mask; /* over line numbers: entries of the filter, at most one a set, less 1 */
} LodeFilterShape;

/* The properties of a hierarchy that decide which references may be filtered out before it. Equal
 * ones, byte by byte, may share a filter. */
typedef struct {
	LodeFilterShape fetches, data, fetch_pages, data_pages;
	bool is_unified;               /* fetches and data go to the same first-level cache */
	bool keeps_fetches;            /* nothing may be left out */
	bool keeps_data;               /* likewise */
	bool keeps_stores;             /* likewise */
	bool stores_bring_lines;       /* allocate */
	bool stores_end_here;          /* write-back */
	bool fetches_next, loads_next; /* misses bring in the next line too */
	bool forgets_on_switch;        /* other threads run on other cores */
	bool is_plain; /* as most are: nothing of the above but a first level that is
	                  split, allocates and writes back, and no TLB */
} LodeFilterRules;

void lode_filter_rules_init(
	LodeFilterRules *out_rules, const LodeHierarchy *hierarchy, bool classifies);

/* Where only the entries differ, makes them as few as those of `other`, so that a filter of these
 * rules is right for both. False: it differs in something else. */
bool lode_filter_rules_merge(LodeFilterRules *self, const LodeFilterRules *other);

typedef struct LodeReferenceFilter LodeReferenceFilter;

LodeReferenceFilter *lode_reference_filter_new(const LodeFilterRules *rules);
void lode_reference_filter_free(LodeReferenceFilter *self);

/* From its first invocation on; plans are of this frame too. Both are borrowed. */
void lode_reference_filter_begin(
	LodeReferenceFilter *self, const LodeTraceFrame *frame, const LodeBlockPlans *plans);

/* Advances by up to so many invocations and gives their remaining references, valid until the next
 * call. False: the frame is at its end. */
bool lode_reference_filter_next(LodeReferenceFilter *self, size_t n_invocations,
	const LodeFilteredReference **out_references, size_t *out_n);

/* Adds the references of the frame so far, also those that were left out, by kind. */
void lode_reference_filter_count(
	const LodeReferenceFilter *self, uint64_t totals[LODE_N_REFERENCE_KINDS]);
