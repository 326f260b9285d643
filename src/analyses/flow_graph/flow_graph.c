/* SPDX-License-Identifier: MIT */
/*
 * The graph itself and its builder. The builder takes vertices and edges as they come and finishes
 * with three orders: attribute ids by bytes of their names, edges by (source, target), parallel
 * edges summed.
 */
#include "analyses/flow_graph/flow_graph_builder.h"
#include "base/arrays/sort_order.h"

#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	uint32_t source, target;
	double count;
} PendingEdge;

struct LodeFlowGraphBuilder {
	LodeFlowGraph *graph;
	LodeProfile *names; /* only for its interning of attributes and attribute sets */
	GArray *graph_starts, *graph_functions;
	GArray *count, *weight, *classes, *instructions, *vertex_graphs;
	GArray *event_starts, *event_ids, *event_values;
	GArray *edges; /* PendingEdge */
};

static GArray *new_words(void)
{
	return g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static GArray *new_doubles(void)
{
	return g_array_new(FALSE, FALSE, sizeof(double));
}

LodeFlowGraphBuilder *lode_flow_graph_builder_new(const char *const *event_names, size_t n_events)
{
	LodeFlowGraphBuilder *self = g_new0(LodeFlowGraphBuilder, 1);
	uint32_t zero = 0;

	self->graph = g_new0(LodeFlowGraph, 1);
	self->graph->n_events = (uint32_t)n_events;
	self->graph->event_names = g_new0(char *, n_events + 1);
	for (size_t i = 0; i < n_events; i++)
		self->graph->event_names[i] = g_strdup(event_names[i]);
	self->graph->event_totals = g_new0(double, n_events + 1);
	self->names = lode_profile_new();
	self->graph_starts = new_words();
	self->graph_functions = new_words();
	self->count = new_doubles();
	self->weight = new_doubles();
	self->classes = new_words();
	self->instructions = new_words();
	self->vertex_graphs = new_words();
	self->event_starts = new_words();
	g_array_append_val(self->event_starts, zero);
	self->event_ids = new_words();
	self->event_values = new_doubles();
	self->edges = g_array_new(FALSE, FALSE, sizeof(PendingEdge));
	return self;
}

void lode_flow_graph_builder_add_graph(LodeFlowGraphBuilder *self, uint32_t function)
{
	uint32_t start = self->count->len;

	g_array_append_val(self->graph_starts, start);
	g_array_append_val(self->graph_functions, function);
}

uint32_t lode_flow_graph_builder_attribute(LodeFlowGraphBuilder *self, const char *name)
{
	return lode_profile_attribute(self->names, name);
}

uint32_t lode_flow_graph_builder_class(
	LodeFlowGraphBuilder *self, const uint32_t *attributes, size_t n)
{
	return lode_profile_attribute_set(self->names, attributes, n);
}

uint32_t lode_flow_graph_builder_add_classed(LodeFlowGraphBuilder *self, double weight,
	double count, uint32_t attribute_class, uint32_t instruction)
{
	uint32_t graph = self->graph_starts->len - 1;
	uint32_t event_end = self->event_ids->len;
	uint32_t vertex = self->count->len;

	g_array_append_val(self->count, count);
	g_array_append_val(self->weight, weight);
	g_array_append_val(self->classes, attribute_class);
	g_array_append_val(self->instructions, instruction);
	g_array_append_val(self->vertex_graphs, graph);
	g_array_append_val(self->event_starts, event_end);
	self->graph->total_count += count;
	self->graph->total_weight += weight;
	return vertex;
}

void lode_flow_graph_builder_add_event(LodeFlowGraphBuilder *self, uint32_t event, double value)
{
	if (value == 0)
		return;
	g_array_append_val(self->event_ids, event);
	g_array_append_val(self->event_values, value);
	g_array_index(self->event_starts, uint32_t, self->event_starts->len - 1)++;
	self->graph->event_totals[event] += value;
}

uint32_t lode_flow_graph_builder_add_vertex(LodeFlowGraphBuilder *self, double weight, double count,
	const char *const *attributes, size_t n_attributes, const double *events)
{
	g_autofree uint32_t *ids = g_new(uint32_t, n_attributes + 1);

	for (size_t i = 0; i < n_attributes; i++)
		ids[i] = lode_flow_graph_builder_attribute(self, attributes[i]);
	uint32_t attribute_class = lode_flow_graph_builder_class(self, ids, n_attributes);
	uint32_t vertex = lode_flow_graph_builder_add_classed(
		self, weight, count, attribute_class, self->count->len);
	for (uint32_t i = 0; i < self->graph->n_events && events != NULL; i++)
		lode_flow_graph_builder_add_event(self, i, events[i]);
	return vertex;
}

void lode_flow_graph_builder_add_edge(
	LodeFlowGraphBuilder *self, uint32_t source, uint32_t target, double count)
{
	PendingEdge edge = {source, target, count};

	g_array_append_val(self->edges, edge);
}

void lode_flow_graph_builder_add_totals(
	LodeFlowGraphBuilder *self, double weight, double count, const double *events)
{
	self->graph->total_weight += weight;
	self->graph->total_count += count;
	for (uint32_t i = 0; i < self->graph->n_events && events != NULL; i++)
		self->graph->event_totals[i] += events[i];
}

static void *steal(GArray *array)
{
	return g_array_free(array, FALSE);
}

/* The edges of one row, few and mostly in order already. */
static void sort_row(PendingEdge *row, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		PendingEdge edge = row[i];
		uint32_t j = i;
		for (; j > 0 && row[j - 1].target > edge.target; j--)
			row[j] = row[j - 1];
		row[j] = edge;
	}
}

/*
 * Compressed rows; parallel edges become one with the sum of their counts. By a counting sort:
 * counts stand two places further on, so that after the sums place source + 1 is where the source's
 * next edge goes, and once all are placed it is where the next row starts.
 */
static void pack_edges(LodeFlowGraph *graph, const GArray *edges)
{
	uint32_t *starts = g_new0(uint32_t, graph->n_vertices + 2);
	g_autofree PendingEdge *rows = g_new(PendingEdge, edges->len + 1);

	graph->edge_starts = g_new0(uint32_t, graph->n_vertices + 1);
	graph->edge_targets = g_new(uint32_t, edges->len + 1);
	graph->edge_counts = g_new(double, edges->len + 1);
	for (guint i = 0; i < edges->len; i++)
		starts[g_array_index(edges, PendingEdge, i).source + 2]++;
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		starts[v + 2] += starts[v + 1];
	for (guint i = 0; i < edges->len; i++) {
		const PendingEdge *edge = &g_array_index(edges, PendingEdge, i);
		rows[starts[edge->source + 1]++] = *edge;
	}
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		sort_row(rows + starts[v], starts[v + 1] - starts[v]);
		for (uint32_t i = starts[v]; i < starts[v + 1]; i++) {
			uint32_t n = graph->n_edges;
			if (n > graph->edge_starts[v] &&
				graph->edge_targets[n - 1] == rows[i].target) {
				graph->edge_counts[n - 1] += rows[i].count;
				continue;
			}
			graph->edge_targets[n] = rows[i].target;
			graph->edge_counts[n] = rows[i].count;
			graph->n_edges++;
		}
		graph->edge_starts[v + 1] = graph->n_edges;
	}
	g_free(starts);
}

typedef struct {
	const char *name;
	uint32_t old_id;
} NamedId;

LODE_ORDER(compare_names, NamedId, strcmp(left->name, right->name))

/* Renumbers attributes by the bytes of their names and writes the classes in the new ids. */
static void pack_attributes(LodeFlowGraph *graph, const LodeProfile *names)
{
	uint32_t n = graph->n_attributes = names->code.attributes->len;
	g_autofree NamedId *order = g_new(NamedId, n + 1);
	g_autofree uint32_t *new_ids = g_new(uint32_t, n + 1);

	for (uint32_t i = 0; i < n; i++)
		order[i] = (NamedId){g_ptr_array_index(names->code.attributes, i), i};
	qsort(order, n, sizeof(*order), compare_names);
	graph->attribute_names = g_new0(char *, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		graph->attribute_names[i] = g_strdup(order[i].name);
		new_ids[order[i].old_id] = i;
	}
	graph->n_classes = names->code.attribute_sets->len;
	graph->class_starts = g_new0(uint32_t, graph->n_classes + 1);
	graph->class_members = g_new(uint32_t, names->code.set_members->len + 1);
	for (uint32_t i = 0; i < graph->n_classes; i++) {
		uint32_t n_members;
		const uint32_t *old = lode_profile_set_members(names, i, &n_members);
		uint32_t *members = graph->class_members + graph->class_starts[i];
		for (uint32_t j = 0; j < n_members; j++)
			members[j] = new_ids[old[j]];
		qsort(members, n_members, sizeof(*members), lode_compare_u32);
		graph->class_starts[i + 1] = graph->class_starts[i] + n_members;
	}
}

static void index_classes(LodeFlowGraph *graph)
{
	uint32_t *starts = g_new0(uint32_t, graph->n_classes + 2);

	graph->class_vertices = g_new(uint32_t, graph->n_vertices + 1);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		starts[graph->attribute_classes[v] + 2]++;
	for (uint32_t i = 0; i < graph->n_classes; i++)
		starts[i + 2] += starts[i + 1];
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		graph->class_vertices[starts[graph->attribute_classes[v] + 1]++] = v;
	graph->class_vertex_starts = starts;
}

LodeFlowGraph *lode_flow_graph_builder_finish(LodeFlowGraphBuilder *self)
{
	LodeFlowGraph *graph = self->graph;
	uint32_t end = self->count->len;

	graph->n_vertices = end;
	graph->n_graphs = self->graph_starts->len;
	g_array_append_val(self->graph_starts, end);
	pack_attributes(graph, self->names);
	pack_edges(graph, self->edges);
	graph->graph_starts = steal(self->graph_starts);
	graph->graph_functions = steal(self->graph_functions);
	graph->count = steal(self->count);
	graph->weight = steal(self->weight);
	graph->attribute_classes = steal(self->classes);
	graph->vertex_instructions = steal(self->instructions);
	graph->vertex_graphs = steal(self->vertex_graphs);
	graph->event_starts = steal(self->event_starts);
	graph->event_ids = steal(self->event_ids);
	graph->event_values = steal(self->event_values);
	index_classes(graph);
	g_array_unref(self->edges);
	lode_profile_free(self->names);
	g_free(self);
	return graph;
}

void lode_flow_graph_free(LodeFlowGraph *self)
{
	if (self == NULL)
		return;
	g_strfreev(self->attribute_names);
	g_strfreev(self->event_names);
	g_free(self->graph_starts);
	g_free(self->graph_functions);
	g_free(self->vertex_graphs);
	g_free(self->vertex_instructions);
	g_free(self->count);
	g_free(self->weight);
	g_free(self->attribute_classes);
	g_free(self->edge_starts);
	g_free(self->edge_targets);
	g_free(self->edge_counts);
	g_free(self->class_vertex_starts);
	g_free(self->class_vertices);
	g_free(self->class_starts);
	g_free(self->class_members);
	g_free(self->event_starts);
	g_free(self->event_ids);
	g_free(self->event_values);
	g_free(self->event_totals);
	g_free(self);
}
