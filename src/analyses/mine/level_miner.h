/* SPDX-License-Identifier: MIT */
/*
 * The search of several ranks, level by level: docs/ranks.md. Each looks for paths that begin in
 * its own graphs; what they found of each candidate is added up, so that all ranks grow the same
 * ones. Private to analyses/mine/.
 */
#pragma once

#include "analyses/mine/searcher.h"
#include "base/ranks.h"

/*
 * Which graphs are this rank's: whole functions, with those that they have edges to, so that no
 * path leaves a rank. [n_graphs + 1]; the caller frees it. The same division on every rank: the
 * largest first, each to the rank that has least yet (R. L. Graham, "Bounds on multiprocessing
 * timing anomalies", 1969); a function's size is an estimate of the number of its paths.
 */
bool *lode_share_own_graphs(const LodeSearchGraph *graph, const LodeMiningParameters *parameters,
	unsigned rank, unsigned n_ranks);

/*
 * Finds what the depth-first search finds, unless it is more than max_sequences: the first worker
 * then has all sequences, on each rank. Where the search is stopped, on one rank, it is on all.
 */
void lode_levels_search(
	LodeSearch *search, LodeSearcher **workers, unsigned n_workers, LodeRanks *ranks);

/* miner.c: adds the sequences of the current pattern at `depth`, up to one above the limit, to
 * those that the worker found; false when there is no memory. */
bool lode_searcher_report(LodeSearcher *self, uint32_t depth);
