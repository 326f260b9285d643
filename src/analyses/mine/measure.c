/* SPDX-License-Identifier: MIT */
/* The supports of one pattern of a level: docs/reference/mining.md §3. */
#include "analyses/mine/searcher.h"

#include "model/index.h"

#include <math.h>
#include <string.h>

/* Whether a vertex has events of its own, or a ratio that is infinite, which a count near the
 * smallest double makes it. */
static bool is_special(const LodeSearchVertex *vertex)
{
	return vertex[0].first_event != vertex[1].first_event || !isfinite(vertex->ratio);
}

/* The weight of such a vertex; its events are added, and the executions that they stand for. */
static double take_special(
	const LodeSearchGraph *graph, uint32_t v, double covered, double *events, double *counts)
{
	const LodeSearchVertex *vertex = &graph->vertices[v];
	const LodeEventValue *values = graph->event_values;
	double share = covered / vertex->count;

	for (uint32_t e = vertex[0].first_event; e < vertex[1].first_event; e++) {
		events[values[e].event] += lode_grid_round(
			graph->event_grids[values[e].event], values[e].value * share);
		counts[values[e].event] += covered;
	}
	/* The weight itself is finite. */
	return isfinite(vertex->ratio) ? covered * vertex->ratio
	                               : graph->graph->weight[v] * (covered / vertex->count);
}

/* Takes the sums over matched vertices. */
static void take_matched(LodeSearcher *self)
{
	const LodeSearchVertex *vertices = self->search->graph->vertices;
	const LodeEventValue *values = self->search->graph->event_values;
	const LodeVertexSums matched = self->matched;
	const LodeGrid grid = self->search->graph->weight_grid;
	double weight = 0, frequency = 0;

	for (size_t i = 0; i < matched.n; i++) {
		uint32_t v = matched.vertices[i];
		const LodeSearchVertex *vertex = &vertices[v];
		if (i + LODE_READ_AHEAD < matched.n)
			lode_prefetch(&vertices[matched.vertices[i + LODE_READ_AHEAD]]);
		if (i + LODE_READ_AHEAD / 2 < matched.n)
			lode_prefetch(&values[vertices[matched.vertices[i + LODE_READ_AHEAD / 2]]
						      .first_event]);
		double sum = matched.sums[v];
		double covered = sum < vertex->count ? sum : vertex->count;
		matched.sums[v] = 0;
		frequency += covered;
		double cost = is_special(vertex) ? take_special(self->search->graph, v, covered,
							   self->taken_events, self->taken_counts)
		                                 : covered * vertex->ratio;
		weight += lode_grid_round(grid, cost);
	}
	self->matched.n = 0;
	self->taken.weight += weight;
	self->taken.frequency += frequency;
}

/* The same for the sums over first vertices. */
static void take_firsts(LodeSearcher *self)
{
	const LodeSearchVertex *vertices = self->search->graph->vertices;
	const LodeVertexSums firsts = self->firsts;
	uint32_t functions = 0;
	double executions = 0;

	for (size_t i = 0; i < firsts.n; i++) {
		uint32_t v = firsts.vertices[i];
		uint32_t *stamp = &self->graph_stamps[vertices[v].graph];
		double sum = firsts.sums[v];
		functions += *stamp != self->stamp;
		*stamp = self->stamp;
		executions += sum < vertices[v].count ? sum : vertices[v].count;
		firsts.sums[v] = 0;
	}
	self->taken.places += (uint32_t)firsts.n;
	self->taken.functions += functions;
	self->taken.executions += executions;
	self->firsts.n = 0;
}

void lode_sums_take(LodeSearcher *self)
{
	take_matched(self);
	take_firsts(self);
}

/* The rounded terms of everything may add up to more than the total. */
static double share_of(double sum, double total)
{
	return total > 0 ? fmin(sum / total, 1) : 0;
}

/* Turns a pattern's sums into shares of the totals, and says whether they pass. */
static void finish(
	const LodeSearch *search, LodePattern *pattern, double *events, const double *counts)
{
	const LodeSearchGraph *search_graph = search->graph;
	const LodeFlowGraph *graph = search_graph->graph;
	LodeSupport *support = &pattern->support;
	double frequency = support->frequency;

	support->weight = share_of(support->weight, search_graph->total_weight);
	support->frequency = share_of(frequency, search_graph->total_count);
	for (uint32_t e = 0; e < graph->n_events; e++) {
		double value = events[e] + search_graph->event_rates[e] * (frequency - counts[e]);
		events[e] = share_of(value, graph->event_totals[e]);
	}
	pattern->passes = support->places > 0 &&
	                  support->functions >= search->parameters->min_functions &&
	                  lode_support_passes(
				  search->parameters, support->weight, support->frequency);
}

void lode_pattern_measure(LodeSearcher *self, uint32_t depth, LodePattern *pattern)
{
	const LodeSearch *search = self->search;
	LodeLevel *level = lode_searcher_level(self, depth);

	if (atomic_load_explicit(&search->stop, memory_order_relaxed) != 0)
		return;
	self->taken = (LodeSupport){0};
	self->taken_events = &LODE_BUFFER_AT(&level->events, double, pattern->events);
	memset(self->taken_events, 0, sizeof(double) * search->graph->graph->n_events);
	memset(self->taken_counts, 0, sizeof(double) * search->graph->graph->n_events);
	self->stamp++;
	if (search->uses_windows)
		lode_windows_sum(self, depth, pattern);
	else
		lode_paths_sum(self, depth, pattern);
	pattern->support = self->taken;
	if (atomic_load_explicit(&search->stop, memory_order_relaxed) == 0)
		finish(search, pattern, self->taken_events, self->taken_counts);
}

/* Adds a vertex to what was taken for an item; `last_graph` is that of the last one. */
static void take_vertex(const LodeSearchGraph *graph, uint32_t v, LodeSupport *taken,
	uint32_t *last_graph, double *events, double *counts)
{
	const LodeSearchVertex *vertex = &graph->vertices[v];
	double cost = is_special(vertex) ? take_special(graph, v, vertex->count, events, counts)
	                                 : vertex->count * vertex->ratio;

	taken->weight += lode_grid_round(graph->weight_grid, cost);
	taken->frequency += vertex->count;
	taken->executions += vertex->count;
	taken->places++;
	taken->functions += *last_graph != vertex->graph;
	*last_graph = vertex->graph;
}

void lode_items_measure(LodeSearcher *self, LodeLevel *root, const uint32_t *item_patterns)
{
	const LodeSearchGraph *graph = self->search->graph;
	LodePattern *patterns = root->patterns.data;
	g_autofree LodeSupport *taken = g_new0(LodeSupport, root->patterns.n + 1);
	g_autofree uint32_t *last_graphs = g_new(uint32_t, root->patterns.n + 1);
	double *events = root->events.data;
	uint32_t n, n_events = graph->graph->n_events;
	g_autofree double *counts = g_new0(double, root->patterns.n *n_events + 1);

	memset(last_graphs, 0xff, sizeof(uint32_t) * root->patterns.n);
	memset(events, 0, sizeof(double) * root->patterns.n * n_events);
	for (uint32_t v = 0; v < graph->graph->n_vertices; v++) {
		const uint32_t *members = lode_search_graph_class(
			graph, graph->vertex_classes[v], &n);
		if (!(graph->vertices[v].count > 0))
			continue;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t p = item_patterns[LODE_MEMBER_ITEM(members[i])];
			if (p != LODE_NONE)
				take_vertex(graph, v, &taken[p], &last_graphs[p],
					events + patterns[p].events, counts + patterns[p].events);
		}
	}
	for (size_t p = 0; p < root->patterns.n; p++) {
		patterns[p].support = taken[p];
		finish(self->search, &patterns[p], events + patterns[p].events,
			counts + patterns[p].events);
	}
}
