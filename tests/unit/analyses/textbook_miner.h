/* SPDX-License-Identifier: MIT */
/*
 * Sequential patterns with a maximal gap as the textbooks mine them (M. J. Zaki, "Sequence mining
 * in categorical domains: incorporating constraints", CIKM 2000): vertical id lists of (sequence,
 * position of the last element), joined in time and in equality. A graph that is a path is a
 * sequence, its vertices are the item sets. Knows neither counts nor weights nor windows.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"

typedef struct {
	uint32_t n_items;
	uint32_t items[8]; /* as in LodeMiningRun */
	uint32_t support;  /* sequences that contain it */
} TextbookPattern;

/* Patterns in ≥ min_support sequences, elements at most `max_gap` positions apart (1 = adjacent),
 * of at most `max_size` ≤ 8 items. GArray of TextbookPattern. */
GArray *textbook_miner_run(
	const LodeFlowGraph *graph, uint32_t max_gap, uint32_t min_support, uint32_t max_size);
