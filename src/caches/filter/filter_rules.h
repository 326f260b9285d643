/* SPDX-License-Identifier: MIT */
/*
 * The properties of a hierarchy that decide which references may be filtered out before it.
 * Private to caches/.
 */
#pragma once

#include "caches/hierarchy/hierarchy.h"

/* Entries of a filter for each of the first-level caches and TLBs, at most. */
enum { LODE_FILTER_MAX_ENTRIES = 1 << 10 };

/* The lines of one of the first-level caches or TLBs. */
typedef struct {
	bool is_there;
	bool counts_second_use; /* a hit right after the fill changes something: SRRIP */
	uint8_t shift;
	uint16_t mask; /* over line numbers: entries of the filter, at most one a set, less 1 */
} LodeFilterShape;

/* Equal shapes, byte by byte, may share a filter. */
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
