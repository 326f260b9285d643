/* SPDX-License-Identifier: MIT */
/* Which sequences --closed and --maximal keep (docs/reference/mining.md §6), by comparing all with
 * all. */
#pragma once

#include "model/mining_run.h"

/* Whether the elements of sequence a, in order, are contained in distinct elements of b. */
bool naive_is_contained(const LodeMiningRun *run, size_t a, size_t b);

/* The twins of lode_closed_mark() and lode_maximal_mark(). */
void naive_closed_mark(const LodeMiningRun *run, bool *out_is_closed);
void naive_maximal_mark(const LodeMiningRun *run, bool *out_is_maximal);
