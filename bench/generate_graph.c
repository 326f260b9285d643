/* SPDX-License-Identifier: MIT */
/* Writes a synthetic graph as a flow file: generate_graph SHAPE > x.flow */
#include "base/text/number_format.h"
#include "synthetic_graph.h"

#include <stdio.h>

static void print_number(double value)
{
	char buffer[LODE_NUMBER_SIZE];

	printf(" %s", lode_number_format_exact(value, buffer));
}

static void print_vertex(const LodeFlowGraph *graph, uint32_t v, uint32_t first)
{
	uint32_t class_id = graph->attribute_classes[v];

	printf("v %u", v - first);
	print_number(graph->weight[v]);
	print_number(graph->count[v]);
	for (uint32_t i = graph->class_starts[class_id]; i < graph->class_starts[class_id + 1]; i++)
		printf(" %s", graph->attribute_names[graph->class_members[i]]);
	putchar('\n');
	for (uint32_t e = graph->edge_starts[v]; e < graph->edge_starts[v + 1]; e++) {
		printf("e %u %u", v - first, graph->edge_targets[e] - first);
		print_number(graph->edge_counts[e]);
		putchar('\n');
	}
	for (uint32_t i = graph->event_starts[v]; i < graph->event_starts[v + 1]; i++) {
		printf("x %u %s", v - first, graph->event_names[graph->event_ids[i]]);
		print_number(graph->event_values[i]);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	const SyntheticShape *shape = argc == 2 ? synthetic_shape_find(argv[1]) : NULL;

	if (shape == NULL) {
		fputs("usage: generate_graph paper|specjvm|method > x.flow\n", stderr);
		return 2;
	}
	g_autoptr(LodeFlowGraph) graph = synthetic_graph_new(shape);
	puts("lode-flow 1\nevent cycles");
	for (uint32_t g = 0; g < graph->n_graphs; g++) {
		printf("graph f%u\n", g);
		for (uint32_t v = graph->graph_starts[g]; v < graph->graph_starts[g + 1]; v++)
			print_vertex(graph, v, graph->graph_starts[g]);
	}
	if (fflush(stdout) != 0) {
		perror("generate_graph");
		return 1;
	}
	return 0;
}
