/* SPDX-License-Identifier: MIT */
/*
 * The execution flow graph (EFG) that is mined: compressed rows, integer ids, no pointers.
 *
 *   graphs      graph_starts[g] … graph_starts[g+1]        vertices of graph g
 *   vertices    count[v], weight[v], attribute_class[v]
 *   successors  edge_starts[v] … edge_starts[v+1]          edge_targets[], edge_counts[]
 *   classes     class_starts[c] … class_starts[c+1]        class_members[]: attribute ids
 *
 * Vertices with the same attributes share a class: there are far fewer classes than vertices, which
 * the miner lives by. Attribute ids follow the byte order of the names.
 */
#pragma once

#include "base/progress.h"

#include <glib.h>
#include <stdint.h>

typedef struct LodeMiningParameters LodeMiningParameters;
typedef struct LodeProfile LodeProfile;

typedef struct {
	uint32_t n_graphs, n_vertices, n_edges, n_classes, n_attributes, n_events;
	uint32_t *graph_starts;
	uint32_t *graph_functions; /* profile function of each graph */
	uint32_t *vertex_graphs;
	uint32_t *vertex_instructions; /* first profile instruction of each vertex */
	double *count, *weight;
	uint32_t *attribute_classes;
	uint32_t *edge_starts, *edge_targets;
	double *edge_counts;
	uint32_t *class_starts, *class_members;
	uint32_t *class_vertex_starts; /* [n_classes + 1]: range of class_vertices */
	uint32_t *class_vertices;      /* vertices by class, ascending inside one */
	char **attribute_names;        /* sorted by bytes */
	char **event_names;            /* further events, derived ones too; not the weight */
	uint32_t *event_starts; /* [n_vertices + 1]: range of event_ids, event_values of a vertex */
	uint32_t *event_ids;
	double *event_values;
	double total_count, total_weight; /* of the whole profile, mined or filtered out alike */
	double *event_totals;
} LodeFlowGraph;

/*
 * Builds the graph of a profile by the parameters: weight event, granularity, attribute namespaces,
 * excludes, event rate, images and functions. The profile must outlive it. Errors: _NOT_FOUND
 * (event), _USAGE (a regular expression, a namespace).
 */
LodeFlowGraph *lode_flow_graph_build(
	const LodeProfile *profile, const LodeMiningParameters *parameters, GError **error);
void lode_flow_graph_free(LodeFlowGraph *self);

/* The graphs of both, those of `second` after those of `first`, as are its vertices; attributes are
 * matched by name. Functions and instructions are those of the profile that a vertex is of; events
 * are left out. The caller frees it. */
LodeFlowGraph *lode_flow_graph_join(const LodeFlowGraph *first, const LodeFlowGraph *second);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeFlowGraph, lode_flow_graph_free)

/*
 * For generators, tests and benchmarks: adds up a graph from pieces. Attributes are given by name;
 * vertices of one graph follow each other; edges may come in any order within the open graph.
 */
typedef struct LodeFlowGraphBuilder LodeFlowGraphBuilder;
LodeFlowGraphBuilder *lode_flow_graph_builder_new(const char *const *event_names, size_t n_events);
void lode_flow_graph_builder_add_graph(LodeFlowGraphBuilder *self, uint32_t function);
/* Gives the id used in edges; `events` has one value per event name. */
uint32_t lode_flow_graph_builder_add_vertex(LodeFlowGraphBuilder *self, double weight, double count,
	const char *const *attributes, size_t n_attributes, const double *events);
void lode_flow_graph_builder_add_edge(
	LodeFlowGraphBuilder *self, uint32_t source, uint32_t target, double count);
/* Totals are the sums of the added values. Frees the builder. */
LodeFlowGraph *lode_flow_graph_builder_finish(LodeFlowGraphBuilder *self);
