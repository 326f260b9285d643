/* SPDX-License-Identifier: MIT */
/*
 * Contexts are found level by level. Going back from the focus, the level of element i holds the
 * vertices that match it and from which an edge leads into the level of element i + 1; what is
 * after the focus is found likewise along the edges. Vertices from which the pattern does not go on
 * to its end are then taken out again.
 */
#include "analyses/findings/finding_matches.h"

#include "analyses/flow_graph/flow_graph.h"
#include "base/arrays/sort_order.h"
#include "model/findings.h"
#include "model/index.h"
#include "model/mining_run.h"

#include <stdlib.h>
#include <string.h>

/* The limit of visited edges: a second's work. */
#define MAX_STEPS UINT64_C(100000000)

/* A vertex that comes before or after in less than this share of the executions is not context. */
#define MIN_SHARE 0.01

typedef struct {
	const LodeFlowGraph *graph;
	const LodeFindings *findings;
	const LodeFinding *finding;
	uint32_t **items;                 /* [elements]: attributes of the graph */
	bool can_match;                   /* the graph has all attributes of the elements */
	uint32_t *before_starts, *before; /* what comes right before each vertex… */
	uint32_t *after_starts, *after;   /* …and right after it */
	GArray **levels;                  /* [elements] of uint32_t: vertices */
	uint32_t *stamps;                 /* [vertices]: the level that took the vertex in */
	uint32_t stamp;
	uint64_t steps;
} Matcher;

static const LodeFindingElement *element_at(const Matcher *self, uint32_t i)
{
	return &g_array_index(
		self->findings->elements, LodeFindingElement, self->finding->first_element + i);
}

/* The elements' attributes have other ids in the graph. */
static void map_items(Matcher *self)
{
	const LodeFlowGraph *graph = self->graph;

	self->items = g_new0(uint32_t *, self->finding->n_elements);
	self->can_match = true;
	for (uint32_t i = 0; i < self->finding->n_elements; i++) {
		const LodeFindingElement *element = element_at(self, i);
		self->items[i] = g_new(uint32_t, element->n_items + 1);
		for (uint32_t j = 0; j < element->n_items; j++) {
			const char *name = g_ptr_array_index(self->findings->attributes,
				g_array_index(
					self->findings->items, uint32_t, element->first_item + j));
			char **found = bsearch(&name, graph->attribute_names, graph->n_attributes,
				sizeof(char *), lode_compare_texts);
			if (found == NULL)
				self->can_match = false;
			else
				self->items[i][j] = (uint32_t)(found - graph->attribute_names);
		}
	}
}

/* Gathers by one end the other ends of the edges that count: as in the model, those that make up a
 * share of the executions of that end. */
static uint32_t *gather(const LodeFlowGraph *graph, bool is_before, uint32_t **out_starts)
{
	uint32_t *starts = g_new0(uint32_t, (size_t)graph->n_vertices + 2);
	uint32_t *others = g_new(uint32_t, (size_t)graph->n_edges + 1);

	for (int is_filling = 0; is_filling < 2; is_filling++) {
		for (uint32_t v = 0; v < graph->n_vertices; v++) {
			uint32_t end = graph->edge_starts[v + 1];
			for (uint32_t e = graph->edge_starts[v]; e < end; e++) {
				double count = graph->edge_counts[e];
				uint32_t target = graph->edge_targets[e];
				uint32_t own = is_before ? target : v;
				if (!(count > 0) || count < MIN_SHARE * graph->count[own])
					continue;
				if (is_filling)
					others[starts[own + 1]++] = is_before ? v : target;
				else
					starts[own + 2]++;
			}
		}
		for (uint32_t v = 0; v < graph->n_vertices && !is_filling; v++)
			starts[v + 2] += starts[v + 1];
	}
	*out_starts = starts;
	return others;
}

static bool is_match(const Matcher *self, uint32_t vertex, uint32_t element)
{
	const LodeFlowGraph *graph = self->graph;
	uint32_t class_id = graph->attribute_classes[vertex];
	uint32_t n = element_at(self, element)->n_items;

	for (uint32_t j = 0; j < n; j++) {
		bool has = false;
		for (uint32_t i = graph->class_starts[class_id];
			i < graph->class_starts[class_id + 1] && !has; i++)
			has = graph->class_members[i] == self->items[element][j];
		if (!has)
			return false;
	}
	return true;
}

/* The vertices one edge away, those before or after. */
static const uint32_t *neighbours_of(
	const Matcher *self, uint32_t vertex, bool is_before, uint32_t *out_n)
{
	const uint32_t *starts = is_before ? self->before_starts : self->after_starts;

	*out_n = starts[vertex + 1] - starts[vertex];
	return (is_before ? self->before : self->after) + starts[vertex];
}

/* Fills the level of an element from the one next to it. */
static void fill_level(Matcher *self, uint32_t element, uint32_t from, bool is_before)
{
	GArray *level = self->levels[element];

	self->stamp++;
	for (guint i = 0; i < self->levels[from]->len; i++) {
		uint32_t n;
		const uint32_t *neighbours = neighbours_of(
			self, g_array_index(self->levels[from], uint32_t, i), is_before, &n);
		self->steps += n;
		for (uint32_t j = 0; j < n; j++) {
			if (self->stamps[neighbours[j]] == self->stamp ||
				!is_match(self, neighbours[j], element))
				continue;
			self->stamps[neighbours[j]] = self->stamp;
			g_array_append_val(level, neighbours[j]);
		}
	}
}

/* Keeps of a level what has a neighbour in the level beyond it. */
static void prune_level(Matcher *self, uint32_t element, uint32_t beyond, bool is_before)
{
	GArray *level = self->levels[element];
	guint n_kept = 0;

	self->stamp++;
	for (guint i = 0; i < self->levels[beyond]->len; i++)
		self->stamps[g_array_index(self->levels[beyond], uint32_t, i)] = self->stamp;
	for (guint i = 0; i < level->len; i++) {
		uint32_t n, vertex = g_array_index(level, uint32_t, i);
		const uint32_t *neighbours = neighbours_of(self, vertex, is_before, &n);
		bool goes_on = false;
		self->steps += n;
		for (uint32_t j = 0; j < n && !goes_on; j++)
			goes_on = self->stamps[neighbours[j]] == self->stamp;
		if (goes_on)
			g_array_index(level, uint32_t, n_kept++) = vertex;
	}
	g_array_set_size(level, n_kept);
}

/* Finds the vertices of each element around a focus. */
static void fill_levels(Matcher *self, uint32_t vertex)
{
	uint32_t focus = self->finding->focus, n = self->finding->n_elements;

	for (uint32_t i = 0; i < n; i++)
		g_array_set_size(self->levels[i], 0);
	g_array_append_val(self->levels[focus], vertex);
	for (uint32_t i = focus; i-- > 0;)
		fill_level(self, i, i + 1, true);
	for (uint32_t i = 1; i < focus; i++)
		prune_level(self, i, i - 1, true);
	for (uint32_t i = focus + 1; i < n; i++)
		fill_level(self, i, i - 1, false);
	for (uint32_t i = n - 1; i-- > focus + 1;)
		prune_level(self, i, i + 1, false);
	/* Half a context is none: without a vertex for the outermost element, all go. */
	for (uint32_t i = 0; i < focus && self->levels[0]->len == 0; i++)
		g_array_set_size(self->levels[i], 0);
	for (uint32_t i = focus + 1; i < n && self->levels[n - 1]->len == 0; i++)
		g_array_set_size(self->levels[i], 0);
}

LODE_ORDER(compare_matches, LodeFindingMatch, LODE_ASCENDING(instruction))

/* Sorts the matches from `first` on; an instruction of several elements is there once. */
static void settle_matches(GArray *matches, guint first)
{
	LodeFindingMatch *rows = &g_array_index(matches, LodeFindingMatch, first);
	guint n = matches->len - first, kept = 0;

	qsort(rows, n, sizeof(LodeFindingMatch), compare_matches);
	for (guint i = 1; i < n; i++) {
		if (rows[i].instruction == rows[kept].instruction)
			rows[kept].elements |= rows[i].elements;
		else
			rows[++kept] = rows[i];
	}
	g_array_set_size(matches, first + kept + 1);
}

static uint32_t vertex_of(const LodeFlowGraph *graph, uint32_t instruction)
{
	uint32_t low = 0, high = graph->n_vertices;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (graph->vertex_instructions[middle] < instruction)
			low = middle + 1;
		else
			high = middle;
	}
	bool is_found = low < graph->n_vertices && graph->vertex_instructions[low] == instruction;
	return is_found ? low : LODE_NONE;
}

static void add_context(Matcher *self, uint32_t instruction, GArray *matches)
{
	uint32_t vertex = vertex_of(self->graph, instruction);

	if (vertex == LODE_NONE || !self->can_match || self->steps > MAX_STEPS)
		return;
	fill_levels(self, vertex);
	for (uint32_t i = 0; i < self->finding->n_elements; i++) {
		const GArray *level = self->levels[i];
		for (guint j = 0; j < level->len && i != self->finding->focus; j++) {
			LodeFindingMatch match = {
				self->graph->vertex_instructions[g_array_index(level, uint32_t, j)],
				1u << MIN(i, 31)};
			g_array_append_val(matches, match);
		}
	}
}

static void matcher_init(Matcher *self)
{
	uint32_t n = self->finding->n_elements;

	map_items(self);
	self->before = gather(self->graph, true, &self->before_starts);
	self->after = gather(self->graph, false, &self->after_starts);
	self->stamps = g_new0(uint32_t, (size_t)self->graph->n_vertices + 1);
	self->levels = g_new(GArray *, n);
	for (uint32_t i = 0; i < n; i++)
		self->levels[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static void matcher_clear(Matcher *self)
{
	for (uint32_t i = 0; i < self->finding->n_elements; i++) {
		g_array_unref(self->levels[i]);
		g_free(self->items[i]);
	}
	g_free(self->levels);
	g_free(self->items);
	g_free(self->stamps);
	g_free(self->before);
	g_free(self->before_starts);
	g_free(self->after);
	g_free(self->after_starts);
}

LodeFindingMatches *lode_finding_matches_find(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeFinding *finding, uint32_t n_places, GError **error)
{
	LodeMiningParameters parameters = run->parameters;
	Matcher matcher = {.findings = run->findings, .finding = finding};
	g_autoptr(LodeFlowGraph) graph = NULL;

	/* The graph that findings are fitted on, which a pattern of one element needs not. */
	parameters.granularity = LODE_GRANULARITY_INSTRUCTION;
	parameters.across_calls = true;
	parameters.is_instruction_mode = false;
	if (finding->n_elements > 1) {
		graph = lode_flow_graph_build(profile, &parameters, error);
		if (graph == NULL)
			return NULL;
		matcher.graph = graph;
		matcher_init(&matcher);
	}
	LodeFindingMatches *self = g_new0(LodeFindingMatches, 1);
	n_places = MIN(n_places, finding->n_places);
	self->matches = g_array_new(FALSE, FALSE, sizeof(LodeFindingMatch));
	self->starts = g_new0(uint32_t, (size_t)n_places + 1);
	for (uint32_t i = 0; i < n_places; i++) {
		const LodeFindingPlace *place = &g_array_index(
			run->findings->places, LodeFindingPlace, finding->first_place + i);
		LodeFindingMatch focus = {place->instruction, 1u << MIN(finding->focus, 31)};
		g_array_append_val(self->matches, focus);
		if (graph != NULL)
			add_context(&matcher, place->instruction, self->matches);
		settle_matches(self->matches, self->starts[i]);
		self->starts[i + 1] = self->matches->len;
	}
	if (graph != NULL)
		matcher_clear(&matcher);
	return self;
}

void lode_finding_matches_free(LodeFindingMatches *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->matches);
	g_free(self->starts);
	g_free(self);
}
