/* SPDX-License-Identifier: MIT */
/*
 * Combines the results of several ranks, each from its own tasks: docs/use/ranks.md.
 * Private to analyses/mine/.
 */
#pragma once

#include "analyses/mine/searcher.h"
#include "base/ranks.h"

/*
 * For each rank to call once its own search has ended: the first worker then has the sequences of
 * all ranks, and no other has any. Where a search was stopped on one rank, it is on all, and
 * nothing is brought together; likewise beyond max_sequences. How many sequences all have found.
 */
uint64_t lode_rank_results_gather(
	LodeSearch *search, LodeSearcher **workers, unsigned n_workers, LodeRanks *ranks);
