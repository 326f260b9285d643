/* SPDX-License-Identifier: MIT */
/*
 * Replays straight into the first level of one machine, where that is of the usual kind: for code
 * and data apart, LRU of few ways, write-back, nothing prefetched, no TLBs and one core. For a
 * block or a data reference whose lines were used last in their sets, only these sets' first words
 * are read; other hits end in the first level; only misses are handled like all references.
 *
 * The words of a program that runs go in without frames: a piece of code is known by its number,
 * its accesses are those of the words after it. Private to caches/.
 */
#pragma once

#include "caches/sets/block_plans.h"
#include "caches/sets/cache_core.h"
#include "traces/blocks/code_pieces.h"
#include "traces/blocks/word_filter.h"

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

enum { LODE_REPLAY_MAX_WORDS = 1 << 24 };

/* Whether lode_direct_replay_words() may be called: misses are counted, not reported. */
bool lode_direct_replay_takes_words(const LodeDirectReplay *self);

/* How words may be filtered before: the program's counts and misses stay the same. False: they may
 * not be used. */
bool lode_direct_replay_filter(const LodeDirectReplay *self, LodeWordFilterGeometry *out);

/* Replays words as a traced program writes them (traces/blocks/code_words.h), in whole groups, and
 * adds their references by kind. At most LODE_REPLAY_MAX_WORDS; `pieces` are always the same. */
void lode_direct_replay_words(LodeDirectReplay *self, LodeCodePieces *pieces, const uint64_t *words,
	size_t n, uint64_t totals[LODE_N_REFERENCE_KINDS]);
