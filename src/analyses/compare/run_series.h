/* SPDX-License-Identifier: MIT */
/*
 * Two versions of a program that ran by turns, several times each: what changed beyond what differs
 * from run to run. Times of the whole, and of each diagnosis, function and wait, are taken from the
 * pairs of runs (compare/comparison.h of each two), and their changes from all pairs
 * (compare/paired_change.h):
 *
 *   A₁ B₁ │ B₂ A₂ │ A₃ B₃ …  ─▶  processor time −12.3 % (−13.9 to −11.0)
 *                                parse()        −10.8 % of A's time
 */
#pragma once

#include "analyses/compare/paired_change.h"
#include "base/progress.h"

#include <glib.h>

typedef struct LodeProfile LodeProfile;

typedef enum {
	LODE_SERIES_PROCESSOR, /* the time of the whole on processors */
	LODE_SERIES_CLOCK,     /* by the clock */
	LODE_SERIES_DIAGNOSIS,
	LODE_SERIES_FUNCTION,
	LODE_SERIES_WAIT,
} LodeSeriesKind;

typedef struct {
	LodeSeriesKind kind;
	char *name;              /* of a diagnosis its title and place, … */
	GArray *seconds[2];      /* double: of each run, in the order of the pairs; 0: not there */
	double medians[2];       /* of them */
	LodePairedChange change; /* of the whole: (B − A) ÷ A; of the others: the difference by the
	                            whole time of A, waits by that of the clock */
} LodeSeriesRow;

typedef struct {
	GArray *rows; /* LodeSeriesRow: the two of the whole, then the others by kind and change */
	guint n_pairs;
} LodeRunSeries;

/* Empty. The caller frees it. */
LodeRunSeries *lode_run_series_new(void);
void lode_run_series_free(LodeRunSeries *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeRunSeries, lode_run_series_free)

/* Adds a pair of runs; at most LODE_PAIRED_MAX. `own`: as of lode_own_lines_new(). Errors: those of
 * lode_comparison_new(). */
bool lode_run_series_add(LodeRunSeries *self, const LodeProfile *const profiles[2],
	const char *const *own, const LodeProgress *progress, GError **error);

/* Computes medians and changes, after the last pair: of the whole with a confidence of 95 % where
 * there are six pairs or more, of the others by the least and the largest of the differences, as
 * many are looked at; and puts the rows in order. */
void lode_run_series_finish(LodeRunSeries *self);

static inline const LodeSeriesRow *lode_series_row(const LodeRunSeries *self, guint index)
{
	return &g_array_index(self->rows, LodeSeriesRow, index);
}
