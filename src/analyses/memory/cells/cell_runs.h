/* SPDX-License-Identifier: MIT */
/*
 * Neighbouring cells of a histogram as one line of a screen: those of one mapping, near each other,
 * that are about as hot, so that a hot page does not drown in its neighbours.
 *
 *   cells  ▁▁▂▁ ▁▁█▇▁▁▁  ─▶  runs  [▁▁▂▁ ▁▁] [█▇] [▁▁▁]
 */
#pragma once

#include "analyses/memory/cells/address_histogram.h"
#include "analyses/memory/cells/cell_contents.h"

typedef struct {
	uint64_t first, last; /* the first and last byte of the run */
	size_t first_cell;    /* in the array of cells */
	size_t n_cells;       /* with accesses; there may be others between */
	uint64_t n_accesses, n_loads, n_stores;
	double weight;
	uint32_t thread;
} LodeCellRun;

/* Runs of `cells`, which are of one thread or of all, by address; `total` is the weight that shares
 * are of. The caller unrefs the GArray of LodeCellRun. */
GArray *lode_cell_runs_find(const LodeProfile *profile, const LodeHistogramCell *cells, size_t n,
	const LodeCellContents *contents, uint64_t granularity, double total);

/* Cells from the first to the last of a run, those between without accesses too. */
uint64_t lode_cell_run_span(const LodeCellRun *self, uint64_t granularity);
