/* SPDX-License-Identifier: MIT */
/*
 * Elements that are one pattern: those with the same number on this rank, and so on every other.
 * A rank does not know the others' numbers; that two elements have one key makes it likely that
 * they are the same everywhere, and each rank then says where they are not.
 *
 *   guess ──▶ one number for each element that is not the first with its key ──▶ sums over ranks
 *     ▲                                                                             │
 *     └──── those that differ somewhere, among themselves ◀─────────────────────────┘
 *
 * So keys decide how many sums it takes, never what comes out. Private to analyses/mine/.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	const uint32_t *own;  /* by element: what is the same on this rank has the same number */
	const uint64_t *keys; /* by element: alike on all ranks, and equal for equal elements */
	uint32_t *firsts;     /* by element: the first one that is the same, once all is settled */
	uint32_t *asked;      /* elements that ranks compare with their first */
	size_t n, n_asked;
} LodePatternJoin;

/* `own` and `keys`, of `n` elements, are borrowed. */
void lode_pattern_join_init(
	LodePatternJoin *self, const uint32_t *own, const uint64_t *keys, size_t n);
void lode_pattern_join_clear(LodePatternJoin *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodePatternJoin, lode_pattern_join_clear)

/* Writes n_asked numbers, which are to be added up over the ranks. */
void lode_pattern_join_write(const LodePatternJoin *self, double *values);

/* Takes the sums; what differs is asked again, n_asked then is how much. */
void lode_pattern_join_settle(LodePatternJoin *self, const double *sums);
