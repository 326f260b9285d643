/* SPDX-License-Identifier: MIT */
/*
 * Replays straight into the first level of one machine, where that is of the usual kind: for code
 * and data apart, LRU of few ways, write-back, nothing prefetched, no TLBs and one core. For a
 * block or a data reference whose lines were used last in their sets, only these sets' first words
 * are read; other hits end in the first level; only misses are handled like all references.
 * Private to caches/.
 */
#pragma once

#include "caches/sets/block_plans.h"
#include "caches/sets/cache_core.h"

typedef struct LodeDirectReplay LodeDirectReplay;

/* NULL: the machine is of a different kind. Borrows it. */
LodeDirectReplay *lode_direct_replay_new(LodeCacheMachine *machine);
void lode_direct_replay_free(LodeDirectReplay *self);

/* From its first invocation on; plans are of this frame too. Both are borrowed. */
void lode_direct_replay_begin(
	LodeDirectReplay *self, const LodeTraceFrame *frame, const LodeBlockPlans *plans);

/* Goes on by up to so many invocations. False: the frame is at its end. */
bool lode_direct_replay_next(LodeDirectReplay *self, size_t n_invocations);

/* Adds the references of the frame so far, by kind. */
void lode_direct_replay_count(
	const LodeDirectReplay *self, uint64_t totals[LODE_N_REFERENCE_KINDS]);
