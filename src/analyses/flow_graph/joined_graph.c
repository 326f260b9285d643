/* SPDX-License-Identifier: MIT */
#include "analyses/flow_graph/flow_graph_builder.h"

/* The builder's classes for those of the graph. The caller frees the array. */
static uint32_t *map_classes(LodeFlowGraphBuilder *builder, const LodeFlowGraph *graph)
{
	uint32_t *classes = g_new(uint32_t, graph->n_classes + 1);
	g_autofree uint32_t *attributes = g_new(uint32_t, graph->n_attributes + 1);
	g_autofree uint32_t *members = g_new(uint32_t, graph->n_attributes + 1);

	for (uint32_t a = 0; a < graph->n_attributes; a++)
		attributes[a] = lode_flow_graph_builder_attribute(
			builder, graph->attribute_names[a]);
	for (uint32_t c = 0; c < graph->n_classes; c++) {
		uint32_t n = 0;
		for (uint32_t i = graph->class_starts[c]; i < graph->class_starts[c + 1]; i++)
			members[n++] = attributes[graph->class_members[i]];
		classes[c] = lode_flow_graph_builder_class(builder, members, n);
	}
	return classes;
}

static void add_graph(LodeFlowGraphBuilder *builder, const LodeFlowGraph *graph, uint32_t first)
{
	g_autofree uint32_t *classes = map_classes(builder, graph);
	double weight = graph->total_weight, count = graph->total_count;

	for (uint32_t g = 0; g < graph->n_graphs; g++) {
		lode_flow_graph_builder_add_graph(builder, graph->graph_functions[g]);
		for (uint32_t v = graph->graph_starts[g]; v < graph->graph_starts[g + 1]; v++) {
			lode_flow_graph_builder_add_classed(builder, graph->weight[v],
				graph->count[v], classes[graph->attribute_classes[v]],
				graph->vertex_instructions[v]);
			weight -= graph->weight[v];
			count -= graph->count[v];
		}
	}
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		for (uint32_t e = graph->edge_starts[v]; e < graph->edge_starts[v + 1]; e++)
			lode_flow_graph_builder_add_edge(builder, first + v,
				first + graph->edge_targets[e], graph->edge_counts[e]);
	lode_flow_graph_builder_add_totals(builder, MAX(weight, 0), MAX(count, 0), NULL);
}

LodeFlowGraph *lode_flow_graph_join(const LodeFlowGraph *first, const LodeFlowGraph *second)
{
	LodeFlowGraphBuilder *builder = lode_flow_graph_builder_new(NULL, 0);

	add_graph(builder, first, 0);
	add_graph(builder, second, first->n_vertices);
	return lode_flow_graph_builder_finish(builder);
}
