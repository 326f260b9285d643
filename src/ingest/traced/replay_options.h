/* SPDX-License-Identifier: MIT */
/* Which part of an address trace is read, and what it is replayed through. */
#pragma once

#include "caches/branch_predictor.h"
#include "caches/hierarchy/hierarchy.h"
#include "traces/trace_range.h"

/* All pointers are borrowed. */
typedef struct {
	const LodeHierarchy *hierarchy; /* for each process anew; NULL: no caches; then accesses are
	                                   kept, not misses */
	bool classifies;                /* misses of data in the first level, by why */
	bool names_stores;              /* and, of those due to sharing, LodeMemory.line_stores */
	bool predicts_branches;         /* by the model that follows, of which each core has one */
	LodeBranchModel branches;
	uint64_t quantum; /* the caches see threads take turns of so many instructions; 0: as in the
	                     trace */
	const LodeTraceRange *range; /* its warm-up by the caches alone; NULL: all */
	const char *function;        /* of that, the references inside it; NULL: all */
} LodeReplayOptions;
