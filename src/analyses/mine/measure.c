/* SPDX-License-Identifier: MIT */
/* The supports of one pattern of a level: docs/mining.md §3. */
#include "analyses/mine/searcher.h"

#include <math.h>
#include <string.h>

static void add_events(const LodeFlowGraph *graph, uint32_t vertex, double share, double *events)
{
	for (uint32_t e = graph->event_starts[vertex]; e < graph->event_starts[vertex + 1]; e++)
		events[graph->event_ids[e]] += graph->event_values[e] * share;
}

/* Turns the sums over vertices into supports, and forgets them on the way: they are many, and
 * reading them is what takes the time. */
static void take_sums(LodeSearcher *self, LodeSupport *support, double *events)
{
	const LodeSearchVertex *vertices = self->search->graph->vertices;
	const LodeFlowGraph *graph = self->search->graph->graph;
	LodeVertexSums *matched = &self->matched;

	double weight = 0, frequency = 0;

	memset(events, 0, sizeof(double) * graph->n_events);
	for (size_t i = 0; i < matched->n; i++) {
		uint32_t v = matched->vertices[i];
		double count = vertices[v].count, ratio = vertices[v].ratio;
		if (i + LODE_READ_AHEAD < matched->n) {
			uint32_t ahead = matched->vertices[i + LODE_READ_AHEAD];
			__builtin_prefetch(&matched->sums[ahead], 1);
			__builtin_prefetch(&vertices[ahead]);
			__builtin_prefetch(&graph->event_starts[ahead]);
		}
		double covered = matched->sums[v] < count ? matched->sums[v] : count;
		frequency += covered;
		/* A count near the smallest double makes the ratio infinite, the weight not. */
		weight += isfinite(ratio) ? covered * ratio : graph->weight[v] * (covered / count);
		if (count > 0)
			add_events(graph, v, covered / count, events);
		matched->sums[v] = 0;
	}
	matched->n = 0;
	support->weight = weight / self->search->graph->total_weight;
	support->frequency = frequency / self->search->graph->total_count;
	for (uint32_t e = 0; e < graph->n_events; e++)
		events[e] = graph->event_totals[e] > 0 ? events[e] / graph->event_totals[e] : 0;
}

/* The same for the sums over first vertices. */
static void take_first_sums(LodeSearcher *self, LodeSupport *support)
{
	const LodeSearchVertex *vertices = self->search->graph->vertices;
	const uint32_t *graphs = self->search->graph->graph->vertex_graphs;
	LodeVertexSums *firsts = &self->firsts;
	uint32_t functions = 0;
	double executions = 0;

	self->stamp++;
	for (size_t i = 0; i < firsts->n; i++) {
		uint32_t v = firsts->vertices[i];
		uint32_t *stamp = &self->graph_stamps[graphs[v]];
		if (i + LODE_READ_AHEAD < firsts->n)
			__builtin_prefetch(&firsts->sums[firsts->vertices[i + LODE_READ_AHEAD]], 1);
		functions += *stamp != self->stamp;
		*stamp = self->stamp;
		executions += fmin(firsts->sums[v], vertices[v].count);
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
