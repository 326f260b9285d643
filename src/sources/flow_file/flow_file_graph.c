/* SPDX-License-Identifier: MIT */
/*
 * Closing a graph, step by step: names become vertices, edges and values are ordered and checked,
 * flows are summed, and only then does anything enter the profile.
 */
#include "sources/flow_file/flow_file_graph.h"

#include "base/arrays/sort_order.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>

void lode_flow_file_graph_init(LodeFlowFileGraph *self, LodeProfile *profile)
{
	*self = (LodeFlowFileGraph){
		.profile = profile,
		.function = LODE_NONE,
		.name_vertices = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.vertex_names = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.weights = g_array_new(FALSE, FALSE, sizeof(double)),
		.edges = g_array_new(FALSE, FALSE, sizeof(LodeFlowFileEdge)),
		.observed = g_array_new(FALSE, FALSE, sizeof(LodeFlowFileObserved)),
		.values = g_array_new(FALSE, FALSE, sizeof(LodeFlowFileValue)),
		.inflow = g_array_new(FALSE, TRUE, sizeof(double)),
		.outflow = g_array_new(FALSE, TRUE, sizeof(double)),
		.in_degrees = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
		.out_degrees = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
	};
	lode_flow_file_names_init(&self->names, profile->strings);
}

void lode_flow_file_graph_clear(LodeFlowFileGraph *self)
{
	GArray **arrays[] = {&self->name_vertices, &self->vertex_names, &self->weights,
		&self->edges, &self->observed, &self->values, &self->inflow, &self->outflow,
		&self->in_degrees, &self->out_degrees};

	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_clear_pointer(arrays[i], g_array_unref);
	lode_flow_file_names_clear(&self->names);
}

void lode_flow_file_graph_start(LodeFlowFileGraph *self, const char *name)
{
	LodeFunction function = {
		.source = LODE_FUNCTION_GIVEN,
		.name = lode_profile_intern(self->profile, name),
		.first_instruction = self->profile->code.instructions->len,
		.first_block = self->profile->code.blocks->len,
	};

	self->function = self->profile->code.functions->len;
	g_array_append_val(self->profile->code.functions, function);
}

uint32_t lode_flow_file_graph_name(LodeFlowFileGraph *self, const char *text, uint32_t length)
{
	uint32_t name = lode_flow_file_names_add(&self->names, text, length);
	uint32_t none = LODE_NONE;

	if (name == self->name_vertices->len)
		g_array_append_val(self->name_vertices, none);
	return name;
}

bool lode_flow_file_graph_add_vertex(
	LodeFlowFileGraph *self, uint32_t name, double weight, double count, uint32_t attribute_set)
{
	uint32_t *vertex = &LODE_AT(self->name_vertices, uint32_t, name);
	LodeInstruction instruction = {
		.address = self->vertex_names->len,
		.count = count,
		.next_count = -1,
		.function = self->function,
		.block = LODE_NONE,
		.attribute_set = attribute_set,
		.location = LODE_NONE,
		.name = (char *)lode_flow_file_names_text(&self->names, name),
	};

	if (*vertex != LODE_NONE)
		return false;
	*vertex = self->vertex_names->len;
	g_array_append_val(self->vertex_names, name);
	g_array_append_val(self->weights, weight);
	g_array_append_val(self->profile->code.instructions, instruction);
	return true;
}

/* Keeps the one of two faults that is further up in the file. */
static void note_fault(LodeFlowFault *fault, LodeFlowFault found)
{
	if (fault->kind == LODE_FLOW_FAULT_NONE || found.line < fault->line)
		*fault = found;
}

static uint32_t vertex_of(const LodeFlowFileGraph *self, uint32_t name)
{
	return LODE_AT(self->name_vertices, uint32_t, name);
}

static void resolve_edge(
	const LodeFlowFileGraph *self, LodeFlowFileEdge *edge, LodeFlowFault *fault)
{
	uint32_t source = vertex_of(self, edge->source);
	uint32_t target = vertex_of(self, edge->target);

	if (source == LODE_NONE || target == LODE_NONE)
		note_fault(fault, (LodeFlowFault){LODE_FLOW_FAULT_EDGE_VERTEX, edge->line,
					  source == LODE_NONE ? edge->source : edge->target});
	edge->source = source;
	edge->target = target;
}

static void resolve_names(LodeFlowFileGraph *self, LodeFlowFault *fault)
{
	for (guint i = 0; i < self->edges->len; i++)
		resolve_edge(self, &LODE_AT(self->edges, LodeFlowFileEdge, i), fault);
	for (guint i = 0; i < self->observed->len; i++)
		resolve_edge(self, &LODE_AT(self->observed, LodeFlowFileObserved, i).edge, fault);
	for (guint i = 0; i < self->values->len; i++) {
		LodeFlowFileValue *value = &LODE_AT(self->values, LodeFlowFileValue, i);
		uint32_t vertex = vertex_of(self, value->vertex);
		if (vertex == LODE_NONE)
			note_fault(fault, (LodeFlowFault){LODE_FLOW_FAULT_VALUE_VERTEX, value->line,
						  value->vertex});
		value->vertex = vertex;
	}
}

/* Compares LodeFlowFileObserved, too, which begins with an edge. */
LODE_ORDER(compare_edges, LodeFlowFileEdge, LODE_ASCENDING(source), LODE_ASCENDING(target),
	LODE_ASCENDING(line))

LODE_ORDER(compare_values, LodeFlowFileValue, LODE_ASCENDING(vertex), LODE_ASCENDING(event),
	LODE_ASCENDING(line))

/* Most files are written in order, and then there is nothing to sort. */
static void sort_rows(GArray *rows, GCompareFunc compare)
{
	size_t size = g_array_get_element_size(rows);
	bool is_sorted = true;

	for (guint i = 1; i < rows->len && is_sorted; i++)
		is_sorted = compare(rows->data + (i - 1) * size, rows->data + i * size) <= 0;
	if (!is_sorted)
		qsort(rows->data, rows->len, size, compare);
}

/* Whether an edge is the one before it. */
static void check_repeat(const LodeFlowFileGraph *self, const LodeFlowFileEdge *last,
	const LodeFlowFileEdge *edge, LodeFlowFault *fault)
{
	if (last->source == edge->source && last->target == edge->target)
		note_fault(fault, (LodeFlowFault){LODE_FLOW_FAULT_EDGE_TWICE, edge->line,
					  LODE_AT(self->vertex_names, uint32_t, edge->source),
					  LODE_AT(self->vertex_names, uint32_t, edge->target)});
}

static void find_repeats(const LodeFlowFileGraph *self, LodeFlowFault *fault)
{
	for (guint i = 1; i < self->edges->len; i++) {
		const LodeFlowFileEdge *edge = &LODE_AT(self->edges, LodeFlowFileEdge, i);
		check_repeat(self, &edge[-1], edge, fault);
	}
	for (guint i = 1; i < self->observed->len; i++) {
		const LodeFlowFileObserved *row = &LODE_AT(self->observed, LodeFlowFileObserved, i);
		check_repeat(self, &row[-1].edge, &row->edge, fault);
	}
	for (guint i = 1; i < self->values->len; i++) {
		const LodeFlowFileValue *value = &LODE_AT(self->values, LodeFlowFileValue, i);
		if (value[-1].vertex == value->vertex && value[-1].event == value->event)
			note_fault(fault, (LodeFlowFault){.kind = LODE_FLOW_FAULT_VALUE_TWICE,
						  .line = value->line,
						  .name = LODE_AT(self->vertex_names, uint32_t,
							  value->vertex),
						  .event = value->event});
	}
}

/* Sets the length anew so that all elements are 0. */
static void zero_array(GArray *array, guint length)
{
	g_array_set_size(array, 0);
	g_array_set_size(array, length);
}

static void sum_flows(LodeFlowFileGraph *self)
{
	guint n = self->vertex_names->len;

	zero_array(self->inflow, n);
	zero_array(self->outflow, n);
	zero_array(self->in_degrees, n);
	zero_array(self->out_degrees, n);
	for (guint i = 0; i < self->edges->len; i++) {
		const LodeFlowFileEdge *edge = &LODE_AT(self->edges, LodeFlowFileEdge, i);
		LODE_AT(self->outflow, double, edge->source) += edge->count;
		LODE_AT(self->inflow, double, edge->target) += edge->count;
		LODE_AT(self->out_degrees, uint32_t, edge->source)++;
		LODE_AT(self->in_degrees, uint32_t, edge->target)++;
	}
}

static LodeInstruction *instruction_at(const LodeFlowFileGraph *self, uint32_t vertex)
{
	uint32_t first = lode_profile_function(self->profile, self->function)->first_instruction;

	return lode_profile_instruction(self->profile, first + vertex);
}

/* Counts that were left open, and the balance of those with a flow into them. */
static void settle_counts(LodeFlowFileGraph *self)
{
	LodeProfile *profile = self->profile;

	for (guint i = 0; i < self->vertex_names->len; i++) {
		LodeInstruction *instruction = instruction_at(self, i);
		double inflow = LODE_AT(self->inflow, double, i);
		/* an entry has no edges into it, an exit none out of it */
		if (instruction->count < 0)
			instruction->count = MAX(inflow, LODE_AT(self->outflow, double, i));
		profile->run.total_count += instruction->count;
		if (LODE_AT(self->in_degrees, uint32_t, i) == 0)
			continue;
		profile->run.inflow_checked += instruction->count;
		/* Counts may be fractions, whose sums round. */
		if (fabs(inflow - instruction->count) <= 1e-9 * instruction->count)
			profile->run.inflow_equal += instruction->count;
	}
}

static void add_edges(LodeFlowFileGraph *self)
{
	LodeFunction *function = lode_profile_function(self->profile, self->function);

	for (guint i = 0; i < self->edges->len; i++) {
		const LodeFlowFileEdge *given = &LODE_AT(self->edges, LodeFlowFileEdge, i);
		LodeEdge edge = {
			.source = function->first_instruction + given->source,
			.target = function->first_instruction + given->target,
			.kind = LODE_EDGE_GIVEN,
			.count = given->count,
		};
		/* a profile keeps the edge to the next instruction with the instruction */
		if (given->target == given->source + 1)
			instruction_at(self, given->source)->next_count = given->count;
		else
			g_array_append_val(self->profile->code.edges, edge);
	}
}

static void add_observed(LodeFlowFileGraph *self)
{
	uint32_t first = lode_profile_function(self->profile, self->function)->first_instruction;

	if (self->observed->len > 0 && self->profile->windows == NULL)
		self->profile->windows = lode_windows_new();
	for (guint i = 0; i < self->observed->len; i++) {
		const LodeFlowFileObserved *given = &LODE_AT(
			self->observed, LodeFlowFileObserved, i);
		const LodeObservedEdge edge = {first + given->edge.source,
			first + given->edge.target, (uint32_t)given->edge.count, given->windows};
		g_array_append_val(self->profile->windows->edges, edge);
	}
}

static void add_cost(LodeProfile *profile, uint32_t event, double value)
{
	LodeCost cost = {.event = event, .value = value};

	if (value == 0)
		return;
	g_array_append_val(profile->code.costs, cost);
	lode_profile_event(profile, event)->total += value;
}

static void add_costs(LodeFlowFileGraph *self, uint32_t weight)
{
	LodeProfile *profile = self->profile;
	guint next = 0;

	for (guint i = 0; i < self->vertex_names->len; i++) {
		add_cost(profile, weight, LODE_AT(self->weights, double, i));
		for (; next < self->values->len; next++) {
			const LodeFlowFileValue *value = &LODE_AT(
				self->values, LodeFlowFileValue, next);
			if (value->vertex != i)
				break;
			add_cost(profile, value->event, value->value);
		}
		g_array_append_val(profile->code.cost_starts, profile->code.costs->len);
	}
}

/* Whether the edge from the previous vertex is the only one into this vertex and the only one out
 * of that vertex. */
static bool continues_block(const LodeFlowFileGraph *self, uint32_t vertex)
{
	return vertex > 0 && instruction_at(self, vertex - 1)->next_count >= 0 &&
	       LODE_AT(self->out_degrees, uint32_t, vertex - 1) == 1 &&
	       LODE_AT(self->in_degrees, uint32_t, vertex) == 1;
}

static void add_blocks(LodeFlowFileGraph *self)
{
	GArray *blocks = self->profile->code.blocks;

	for (guint i = 0; i < self->vertex_names->len; i++) {
		LodeInstruction *instruction = instruction_at(self, i);
		LodeBlock block = {
			.function = self->function, .address = i, .count = instruction->count};
		if (!continues_block(self, i))
			g_array_append_val(blocks, block);
		instruction->block = blocks->len - 1;
		LODE_AT(blocks, LodeBlock, blocks->len - 1).end = i + 1;
	}
}

static void finish(LodeFlowFileGraph *self)
{
	LodeFunction *function = lode_profile_function(self->profile, self->function);

	function->n_instructions = self->vertex_names->len;
	function->n_blocks = self->profile->code.blocks->len - function->first_block;
	self->function = LODE_NONE;
	lode_flow_file_names_reset(&self->names);
	g_array_set_size(self->name_vertices, 0);
	g_array_set_size(self->vertex_names, 0);
	g_array_set_size(self->weights, 0);
	g_array_set_size(self->edges, 0);
	g_array_set_size(self->observed, 0);
	g_array_set_size(self->values, 0);
}

LodeFlowFault lode_flow_file_graph_close(LodeFlowFileGraph *self, uint32_t weight)
{
	LodeFlowFault fault = {.kind = LODE_FLOW_FAULT_NONE};

	if (self->function == LODE_NONE)
		return fault;
	resolve_names(self, &fault);
	if (fault.kind != LODE_FLOW_FAULT_NONE)
		return fault;
	sort_rows(self->edges, compare_edges);
	sort_rows(self->observed, compare_edges);
	sort_rows(self->values, compare_values);
	find_repeats(self, &fault);
	if (fault.kind != LODE_FLOW_FAULT_NONE)
		return fault;
	sum_flows(self);
	settle_counts(self);
	add_edges(self);
	add_observed(self);
	add_costs(self, weight);
	add_blocks(self);
	finish(self);
	return fault;
}
