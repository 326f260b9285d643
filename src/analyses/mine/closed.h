/* SPDX-License-Identifier: MIT */
/* Finds the closed sequences of a run: those that no longer one repeats (docs/reference/mining.md
 * §6). */
#pragma once

#include <glib.h>

#include "base/progress.h"

typedef struct LodeMiningRun LodeMiningRun;

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
