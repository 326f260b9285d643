/* SPDX-License-Identifier: MIT */
#include "analyses/mine/level_miner.h"

#include <stdlib.h>
#include <string.h>

/* Longer paths change little in the proportions, and their numbers grow beyond all bounds. */
enum { MAX_STEPS = 8 };

/* Graphs that have edges to each other. */
typedef struct {
	uint32_t first_graph;
	double size;
} Part;

static uint32_t find_first(uint32_t *firsts, uint32_t graph)
{
	while (firsts[graph] != graph) {
		firsts[graph] = firsts[firsts[graph]];
		graph = firsts[graph];
	}
	return graph;
}

/* By graph, the first of its part. */
static uint32_t *join_graphs(const LodeSearchGraph *graph)
{
	const LodeFlowGraph *flow = graph->graph;
	uint32_t *firsts = g_new(uint32_t, flow->n_graphs + 1);

	for (uint32_t g = 0; g < flow->n_graphs; g++)
		firsts[g] = g;
	for (uint32_t v = 0; v < flow->n_vertices; v++)
		for (uint32_t i = graph->edge_starts[v]; i < graph->edge_starts[v + 1]; i++) {
			uint32_t a = find_first(firsts, flow->vertex_graphs[v]);
			uint32_t b = find_first(
				firsts, flow->vertex_graphs[graph->edges[i].target]);
			firsts[MAX(a, b)] = MIN(a, b);
		}
	for (uint32_t g = 0; g < flow->n_graphs; g++)
		firsts[g] = find_first(firsts, g);
	return firsts;
}

/* By vertex, how many paths begin there. */
static double *count_paths(const LodeSearchGraph *graph, const LodeMiningParameters *parameters)
{
	uint32_t n = graph->graph->n_vertices;
	uint32_t steps = MIN(parameters->iterations * (parameters->window + 1) +
				     (parameters->iterations - 1) * parameters->gap - 1,
		MAX_STEPS);
	double *paths = g_new(double, n + 1);
	g_autofree double *shorter = g_new(double, n + 1);

	for (uint32_t v = 0; v < n; v++)
		paths[v] = 1;
	for (uint32_t step = 0; step < steps; step++) {
		memcpy(shorter, paths, n * sizeof(double));
		for (uint32_t v = 0; v < n; v++) {
			paths[v] = 1;
			for (uint32_t i = graph->edge_starts[v]; i < graph->edge_starts[v + 1]; i++)
				paths[v] += shorter[graph->edges[i].target];
		}
	}
	return paths;
}

static int compare_parts(const void *a, const void *b)
{
	const Part *left = a, *right = b;

	if (left->size != right->size)
		return left->size > right->size ? -1 : 1;
	return (left->first_graph > right->first_graph) - (left->first_graph < right->first_graph);
}

bool *lode_share_own_graphs(const LodeSearchGraph *graph, const LodeMiningParameters *parameters,
	unsigned rank, unsigned n_ranks)
{
	const LodeFlowGraph *flow = graph->graph;
	g_autofree uint32_t *firsts = join_graphs(graph);
	g_autofree double *paths = count_paths(graph, parameters);
	g_autofree Part *parts = g_new0(Part, flow->n_graphs + 1);
	g_autofree double *loads = g_new0(double, n_ranks);
	g_autofree bool *is_own_part = g_new0(bool, flow->n_graphs + 1);
	bool *is_own = g_new0(bool, flow->n_graphs + 1);

	for (uint32_t g = 0; g < flow->n_graphs; g++)
		parts[g].first_graph = g;
	for (uint32_t v = 0; v < flow->n_vertices; v++)
		if (graph->vertex_classes[v] != 0)
			parts[firsts[flow->vertex_graphs[v]]].size += paths[v];
	qsort(parts, flow->n_graphs, sizeof(Part), compare_parts);
	for (uint32_t i = 0; i < flow->n_graphs; i++) {
		unsigned least = 0;
		for (unsigned r = 1; r < n_ranks; r++)
			if (loads[r] < loads[least])
				least = r;
		loads[least] += parts[i].size;
		is_own_part[parts[i].first_graph] = least == rank;
	}
	for (uint32_t g = 0; g < flow->n_graphs; g++)
		is_own[g] = is_own_part[firsts[g]];
	return is_own;
}
