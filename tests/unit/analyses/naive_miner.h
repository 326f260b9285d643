/* SPDX-License-Identifier: MIT */
/*
 * The oracle of the miner's tests: docs/reference/mining.md §1–§4 word by word, by brute force.
 * Every path and every window is walked for every sequence; nothing is shared with the real miner
 * but the nouns. Graphs may have 64 attributes, paths 32 vertices.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"
#include "model/mining_run.h"

/* One occurrence: a distinct vertex list. */
typedef struct {
	uint32_t length;
	uint32_t vertices[32];
	uint32_t elements[32]; /* bit i: in a window of element i in some matching */
	double count;          /* by the flow model; > 0 */
} NaivePath;

/* All occurrences of a sequence: a set of NaivePath, the values of the table. */
GHashTable *naive_paths_find(const LodeFlowGraph *graph, const LodeMiningParameters *parameters,
	const uint32_t *items, size_t n_items);

/* All reported sequences, by size; the run's attributes are all those of the graph. */
LodeMiningRun *naive_miner_run(const LodeFlowGraph *graph, const LodeMiningParameters *parameters);
