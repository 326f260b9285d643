/* SPDX-License-Identifier: MIT */
/* The supports of one pattern of a level: docs/mining.md §3. */
#include "analyses/mine/searcher.h"

#include <math.h>
#include <string.h>

/* The weight of a vertex whose ratio is infinite or that has events of its own, which are added. */
static double take_special(
	const LodeSearchGraph *search_graph, uint32_t v, double covered, double *events)
{
	const LodeSearchVertex *vertex = &search_graph->vertices[v];
	const LodeEventValue *values = search_graph->event_values;
	double share = covered / vertex->count;
	uint32_t end = vertex[1].first_event;

	for (uint32_t e = vertex[0].first_event; e < end; e++)
		events[values[e].event] += values[e].value * share;
	/* A count near the smallest double makes the ratio infinite, the weight not. */
	return isfinite(vertex->ratio) ? covered * vertex->ratio
	                               : search_graph->graph->weight[v] * (covered / vertex->count);
}

/* Turns the sums over vertices into supports, and forgets them on the way: they are many, and
 * reading them is what takes the time. */
static void take_sums(LodeSearcher *self, LodeSupport *support, double *events)
{
	const LodeSearchGraph *search_graph = self->search->graph;
	const LodeSearchVertex *vertices = search_graph->vertices;
	const LodeEventValue *values = search_graph->event_values;
	const LodeFlowGraph *graph = search_graph->graph;
	const LodeVertexSums matched = self->matched;
	double weight = 0, frequency = 0;

	memset(events, 0, sizeof(double) * graph->n_events);
	for (size_t i = 0; i < matched.n; i++) {
		uint32_t v = matched.vertices[i];
		const LodeSearchVertex *vertex = &vertices[v];
		if (i + LODE_READ_AHEAD < matched.n) {
			uint32_t ahead = matched.vertices[i + LODE_READ_AHEAD];
			__builtin_prefetch(&matched.sums[ahead], 1);
			__builtin_prefetch(&vertices[ahead]);
		}
		if (i + LODE_READ_AHEAD / 2 < matched.n)
			__builtin_prefetch(
				&values[vertices[matched.vertices[i + LODE_READ_AHEAD / 2]]
						.first_event]);
		double sum = matched.sums[v];
		double covered = sum < vertex->count ? sum : vertex->count;
		matched.sums[v] = 0;
		frequency += covered;
		weight += vertex->plain_ratio >= 0 ? covered * vertex->plain_ratio
		                                   : take_special(search_graph, v, covered, events);
	}
	self->matched.n = 0;
	support->weight = weight / search_graph->total_weight;
	support->frequency = frequency / search_graph->total_count;
	for (uint32_t e = 0; e < graph->n_events; e++) {
		double value = events[e] + search_graph->event_rates[e] * frequency;
		events[e] = graph->event_totals[e] > 0 ? value / graph->event_totals[e] : 0;
	}
}

/* The same for the sums over first vertices. */
static void take_first_sums(LodeSearcher *self, LodeSupport *support)
{
	const LodeSearchVertex *vertices = self->search->graph->vertices;
	LodeVertexSums *firsts = &self->firsts;
	uint32_t functions = 0;
	double executions = 0;

	self->stamp++;
	for (size_t i = 0; i < firsts->n; i++) {
		uint32_t v = firsts->vertices[i];
		uint32_t *stamp = &self->graph_stamps[vertices[v].graph];
		double sum = firsts->sums[v];
		if (i + LODE_READ_AHEAD < firsts->n)
			__builtin_prefetch(&firsts->sums[firsts->vertices[i + LODE_READ_AHEAD]], 1);
		functions += *stamp != self->stamp;
		*stamp = self->stamp;
		executions += sum < vertices[v].count ? sum : vertices[v].count;
		firsts->sums[v] = 0;
	}
	support->places = (uint32_t)firsts->n;
	support->functions = functions;
	support->executions = executions;
	firsts->n = 0;
}

void lode_pattern_measure(LodeSearcher *self, uint32_t depth, LodePattern *pattern)
{
	const LodeSearch *search = self->search;
	LodeSupport *support = &pattern->support;
	LodeLevel *level = lode_searcher_level(self, depth);

	if (atomic_load_explicit(&search->stop, memory_order_relaxed) != 0)
		return;
	if (search->uses_windows)
		lode_windows_sum(self, depth, pattern);
	else
		lode_paths_sum(self, depth, pattern);
	take_sums(self, support, &LODE_BUFFER_AT(&level->events, double, pattern->events));
	take_first_sums(self, support);
	pattern->passes = support->places > 0 &&
	                  support->functions >= search->parameters->min_functions &&
	                  lode_support_passes(
				  search->parameters, support->weight, support->frequency);
}
