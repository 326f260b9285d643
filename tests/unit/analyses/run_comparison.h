/* SPDX-License-Identifier: MIT */
/* Whether two mining runs say the same. */
#pragma once

#include "model/mining_run.h"

/* Whether |a − b| ≤ 1e-9, absolute or relative. */
bool supports_are_equal(double a, double b);

/* The index of a sequence by its text with full attribute names: char * → index + 1. */
GHashTable *run_index_new(const LodeMiningRun *run);

/* "a b → c" with full attribute names; the caller frees it. */
char *run_sequence_key(const LodeMiningRun *run, size_t index);

/* NULL when both have the same sequences with the same supports, places, functions, executions and
 * event supports; otherwise the first difference, which the caller frees. */
char *run_difference(const LodeMiningRun *expected, const LodeMiningRun *actual);

/* As above, when `actual` may lack sequences. */
char *run_difference_of_part(const LodeMiningRun *whole, const LodeMiningRun *part);

/* Whether they are the same to the last bit and in the same order, but for name and time. */
bool runs_are_identical(const LodeMiningRun *a, const LodeMiningRun *b);

/* Whether the sequences are in canonical order. */
bool run_is_in_order(const LodeMiningRun *run);
