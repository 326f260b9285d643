/* SPDX-License-Identifier: MIT */
/* Finds the closed sequences of a run: those that no longer one repeats (docs/mining.md §6). */
#pragma once

#include "base/progress.h"
#include "model/mining_run.h"

/* Whether the elements of the first sequence, in order, are contained in distinct elements of the
 * second; `items` as in LodeMiningRun. True for equal ones. */
bool lode_sequence_is_contained(
	const uint32_t *items, uint32_t n, const uint32_t *in_items, uint32_t in_n);

/* A 64-bit signature of the attributes: containment needs (small & ~large) == 0. */
uint64_t lode_sequence_signature(const uint32_t *items, uint32_t n);

/*
 * is_closed[i]: no reported proper super-sequence has the same Sw and Sf (within 1e-9). The array
 * has one bool a sequence. Where most of a run has equal supports, as where it was cut at its
 * limit, the time grows with the square of their number. Errors: _CANCELLED.
 */
bool lode_closed_mark(const LodeMiningRun *run, bool *out_is_closed, const LodeProgress *progress,
	GError **error);

/* out_is_maximal[i]: no other reported sequence contains sequence i. The run must be in canonical
 * order. Errors: _CANCELLED. */
bool lode_maximal_mark(const LodeMiningRun *run, bool *out_is_maximal, const LodeProgress *progress,
	GError **error);
