/* SPDX-License-Identifier: MIT */
/* All occurrences of one given sequence: where a pattern is, and how much of each vertex it covers.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"

typedef struct LodeMiningRun LodeMiningRun;

typedef struct {
	uint32_t vertex;
	double count;      /* c(u): executions of the vertex that belong to the sequence; > 0 */
	uint32_t elements; /* bit i: the vertex lies in a window of element i (31: that or later) in
	                      some occurrence */
} LodeCoveredVertex;

typedef struct {
	uint32_t first_vertex;
	double executions; /* min(n(v), Σ count of the occurrences that start here) */
	uint32_t first_matched,
		n_matched; /* into `matched`: distinct matched vertices, ascending */
} LodeOccurrencePlace;

typedef struct {
	GArray *covered; /* LodeCoveredVertex, ascending by vertex */
	GArray *places;  /* LodeOccurrencePlace, ascending by first_vertex */
	GArray *matched; /* LodeCoveredVertex; count = that of the place's occurrences */
	double weight, frequency, executions;
	uint32_t functions;
} LodeOccurrences;

/* Finds them; `items` as in LodeMiningRun, with attribute ids of the *graph*; the parameters are
 * those of the run. The caller owns the result. Errors: _USAGE (no sequence of 1 to 64 items). */
LodeOccurrences *lode_occurrences_find(const LodeFlowGraph *graph, const uint32_t *items,
	size_t n_items, const LodeMiningParameters *parameters, GError **error);
void lode_occurrences_free(LodeOccurrences *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeOccurrences, lode_occurrences_free)

/* The items of a sequence of a run as attribute ids of the graph (they differ when the run was read
 * from a store). The caller frees the array. NULL: the graph lacks one of the attributes; in a run
 * of instruction sequences such an item is given an id that matches nothing. */
uint32_t *lode_occurrences_map_items(
	const LodeFlowGraph *graph, const LodeMiningRun *run, size_t index);
