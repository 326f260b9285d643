/* SPDX-License-Identifier: MIT */
/*
 * The places of a sequence as they are shown. A vertex is an instruction, or at coarser
 * granularities a range of them:
 *
 *   place ──▶ matched vertices ──▶ instructions ──▶ lines ± context, gaps between them marked
 */
#include "views/annotate_place.h"

#include "base/error.h"
#include "views/profile_figures.h"
#include "views/report_values.h"

#include <math.h>
#include <stdlib.h>

static uint32_t function_of_vertex(const LodeFlowGraph *graph, uint32_t vertex)
{
	return graph->graph_functions[graph->vertex_graphs[vertex]];
}

/* The end of the vertex's range of instructions. */
static uint32_t end_of_vertex(const LodeAnnotation *self, uint32_t vertex)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t graph_id = graph->vertex_graphs[vertex];

	if (vertex + 1 < graph->graph_starts[graph_id + 1])
		return graph->vertex_instructions[vertex + 1];
	const LodeFunction *function = lode_profile_function(
		self->profile, graph->graph_functions[graph_id]);
	return function->first_instruction + function->n_instructions;
}

static const LodeCoveredVertex *matched_of(
	const LodeAnnotation *self, const LodeOccurrencePlace *place, uint32_t i)
{
	return &g_array_index(
		self->occurrences->matched, LodeCoveredVertex, place->first_matched + i);
}

static double place_weight(const LodeAnnotation *self, const LodeOccurrencePlace *place)
{
	double weight = 0;

	for (uint32_t i = 0; i < place->n_matched; i++) {
		const LodeCoveredVertex *covered = matched_of(self, place, i);
		double executions = self->graph->count[covered->vertex];
		if (executions > 0)
			weight += self->graph->weight[covered->vertex] *
			          fmin(1, covered->count / executions);
	}
	return weight;
}

static int compare_places(const void *a, const void *b)
{
	const LodeAnnotatePlace *left = a, *right = b;

	if (left->share != right->share)
		return left->share > right->share ? -1 : 1;
	if (left->executions != right->executions)
		return left->executions > right->executions ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

static void order_places(LodeAnnotation *self)
{
	const GArray *places = self->occurrences->places;

	for (uint32_t i = 0; i < places->len; i++) {
		const LodeOccurrencePlace *place = &g_array_index(places, LodeOccurrencePlace, i);
		LodeAnnotatePlace row = {
			.place = i,
			.function = function_of_vertex(self->graph, place->first_vertex),
			.instruction = self->graph->vertex_instructions[place->first_vertex],
			.executions = place->executions,
			.share = lode_share_of(
				place_weight(self, place), self->graph->total_weight),
		};
		g_array_append_val(self->places, row);
	}
	/* Without elements there is no array, which qsort() may not be given. */
	if (self->places->len > 0)
		qsort(self->places->data, self->places->len, sizeof(LodeAnnotatePlace),
			compare_places);
}

static bool find_occurrences(LodeAnnotation *self, GError **error)
{
	const LodeMiningParameters *parameters = &self->run->parameters;
	const LodeSequence *sequence = &g_array_index(
		self->run->sequences, LodeSequence, self->sequence);

	self->graph = lode_flow_graph_build(self->profile, parameters, error);
	if (self->graph == NULL)
		return false;
	g_autofree uint32_t *items = lode_occurrences_map_items(
		self->graph, self->run, self->sequence);
	if (items == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"sequence %u has an attribute that the profile lacks; mine again",
			self->sequence + 1);
		return false;
	}
	self->occurrences = lode_occurrences_find(
		self->graph, items, sequence->n_items, parameters, error);
	return self->occurrences != NULL;
}

static void free_code_lines(void *lines)
{
	lode_code_lines_free(lines);
}

bool lode_annotation_init(LodeAnnotation *self, const LodeProfile *profile,
	const LodeMiningRun *run, const LodeAnnotateOptions *options, GError **error)
{
	size_t index;

	*self = (LodeAnnotation){.profile = profile, .run = run, .options = options};
	self->places = g_array_new(FALSE, FALSE, sizeof(LodeAnnotatePlace));
	self->code_lines = g_hash_table_new_full(NULL, NULL, NULL, free_code_lines);
	self->weight_event = lode_profile_weight_of(profile, run);
	if (!lode_report_find_sequence(run, options->id, &index, error))
		return false;
	self->sequence = (uint32_t)index;
	if (!find_occurrences(self, error))
		return false;
	order_places(self);
	uint32_t limit = options->limit;
	if (limit == 0 && options->format == LODE_VIEW_TEXT)
		limit = 10;
	if (limit != 0 && self->places->len > limit)
		g_array_set_size(self->places, limit);
	return true;
}

void lode_annotation_clear(LodeAnnotation *self)
{
	lode_occurrences_free(self->occurrences);
	lode_flow_graph_free(self->graph);
	g_clear_pointer(&self->places, g_array_unref);
	g_clear_pointer(&self->code_lines, g_hash_table_unref);
}

const LodeCodeLines *lode_annotation_code(LodeAnnotation *self, uint32_t function)
{
	void *key = GUINT_TO_POINTER(function);
	LodeCodeLines *lines = g_hash_table_lookup(self->code_lines, key);

	if (lines == NULL) {
		lines = lode_code_lines_new(self->profile, function);
		g_hash_table_insert(self->code_lines, key, lines);
	}
	return lines;
}

static int compare_lines(const void *a, const void *b)
{
	uint32_t left = ((const LodeAnnotateLine *)a)->line;
	uint32_t right = ((const LodeAnnotateLine *)b)->line;

	return (left > right) - (left < right);
}

/* The matched lines, by line; a line is there once. */
static GArray *matched_lines(LodeAnnotation *self, const LodeAnnotatePlace *place)
{
	const LodeOccurrencePlace *occurrence = &g_array_index(
		self->occurrences->places, LodeOccurrencePlace, place->place);
	const LodeCodeLines *code = lode_annotation_code(self, place->function);
	uint32_t first = lode_profile_function(self->profile, place->function)->first_instruction;
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(LodeAnnotateLine));

	for (uint32_t i = 0; i < occurrence->n_matched; i++) {
		const LodeCoveredVertex *covered = matched_of(self, occurrence, i);
		uint32_t end = end_of_vertex(self, covered->vertex);
		for (uint32_t at = self->graph->vertex_instructions[covered->vertex]; at < end;
			at++) {
			LodeAnnotateLine line = {
				.line = code->line_of[at - first],
				.elements = covered->elements,
				.count = covered->count,
			};
			g_array_append_val(lines, line);
		}
	}
	if (lines->len > 1)
		qsort(lines->data, lines->len, sizeof(LodeAnnotateLine), compare_lines);
	return lines;
}

GArray *lode_annotation_lines(LodeAnnotation *self, const LodeAnnotatePlace *place)
{
	const LodeCodeLines *code = lode_annotation_code(self, place->function);
	g_autoptr(GArray) matched = matched_lines(self, place);
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(LodeAnnotateLine));
	uint64_t context = self->options->context;
	uint64_t next = 0; /* the first line not yet shown */

	for (guint i = 0; i < matched->len; i++) {
		const LodeAnnotateLine *match = &g_array_index(matched, LodeAnnotateLine, i);
		uint64_t start = match->line > context ? match->line - context : 0;
		uint64_t end = MIN(match->line + context + 1, code->lines->len);
		if (i + 1 < matched->len)
			end = MIN(end, match[1].line);
		bool is_gap = start > next && lines->len > 0;
		for (uint64_t at = MAX(start, next); at < end; at++) {
			LodeAnnotateLine line = {.line = (uint32_t)at};
			if (at == match->line)
				line = *match;
			line.follows_gap = is_gap && at == MAX(start, next);
			g_array_append_val(lines, line);
		}
		next = MAX(next, end);
	}
	return lines;
}

void lode_annotate_elements_text(uint32_t elements, GString *out)
{
	bool is_first = true;

	for (uint32_t i = 0; i < 32; i++) {
		if ((elements >> i & 1) == 0)
			continue;
		g_string_append_printf(
			out, "%s%u%s", is_first ? "" : " ", i + 1, i == 31 ? "+" : "");
		is_first = false;
	}
}
