/* SPDX-License-Identifier: MIT */
/*
 * What the search for dependences asks of code and samples: what an instruction makes that others
 * wait for, whether a function has ways that no sample shows, pairs of samples of a function.
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/attributes/dependence_search.h"
#include "ingest/join/join.h"
#include "ingest/join/loops/loop_times.h"

typedef struct LodeFunction LodeFunction;

/* What an instruction makes that others may wait for. */

typedef struct {
	const LodeProfile *profile;
	const LodeJoinCode *codes;
	GArray *miss_events; /* uint32_t, by lode_miss_events_find() */
} LodeNeedMaking;

/* Misses of the first level, by whatever name they were counted or sampled; at their causes. The
 * caller frees them. */
GArray *lode_miss_events_find(const LodeProfile *profile);

/* 1 << LodeNeed, of all that the result of an instruction is. */
uint16_t lode_needs_made_by(const LodeNeedMaking *self, uint32_t instruction);

/* Ways of a function that no sample shows. */

/* Whether control may take ways in a function that its code in the profile does not show; `codes`
 * are of all instructions. */
bool lode_join_has_hidden_ways(
	const LodeProfile *profile, const LodeJoinCode *codes, const LodeFunction *function);

/* The pairs of samples whose code is in the profile. */

/* LodeLoopPair, sorted by function. The caller frees them. */
GArray *lode_loop_pairs_find(const LodeProfile *profile, const LodeJoinImages *images);

/* Those of a function. */
const LodeLoopPair *lode_loop_pairs_of(const GArray *all, uint32_t function, size_t *out_n);
