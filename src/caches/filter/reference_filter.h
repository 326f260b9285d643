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

#include "caches/filter/filter_rules.h"
#include "caches/filter/filtered_references.h"
#include "caches/sets/block_plans.h"

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
