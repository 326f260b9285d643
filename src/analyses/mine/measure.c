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
	const LodeFlowGraph *graph = self->search->graph->graph;
	const uint32_t *touched = self->touched.data;

	*support = (LodeSupport){0};
	memset(events, 0, sizeof(double) * graph->n_events);
	for (size_t i = 0; i < self->touched.n; i++) {
		uint32_t v = touched[i];
		LodeVertexSum *sum = &self->sums[v];
		if (i + LODE_READ_AHEAD < self->touched.n) {
			__builtin_prefetch(&self->sums[touched[i + LODE_READ_AHEAD]], 1);
			__builtin_prefetch(&graph->event_starts[touched[i + LODE_READ_AHEAD]]);
		}
		double covered = sum->sum < sum->count ? sum->sum : sum->count;
		support->frequency += covered;
		/* A count near the smallest double makes the ratio infinite, the weight not. */
		support->weight += isfinite(sum->ratio) ? covered * sum->ratio
		                                        : graph->weight[v] * (covered / sum->count);
		if (sum->count > 0)
			add_events(graph, v, covered / sum->count, events);
		sum->sum = 0;
	}
	self->touched.n = 0;
	support->weight /= self->search->graph->total_weight;
	support->frequency /= self->search->graph->total_count;
	for (uint32_t e = 0; e < graph->n_events; e++)
		events[e] = graph->event_totals[e] > 0 ? events[e] / graph->event_totals[e] : 0;
}

/* The same for the sums over first vertices. */
static void take_first_sums(LodeSearcher *self, LodeSupport *support)
{
	const uint32_t *graphs = self->search->graph->graph->vertex_graphs;
	const uint32_t *firsts = self->firsts.data;

	self->stamp++;
	support->places = (uint32_t)self->firsts.n;
	for (size_t i = 0; i < self->firsts.n; i++) {
		LodeVertexSum *sum = &self->sums[firsts[i]];
		uint32_t *stamp = &self->graph_stamps[graphs[firsts[i]]];
		if (i + LODE_READ_AHEAD < self->firsts.n)
			__builtin_prefetch(&self->sums[firsts[i + LODE_READ_AHEAD]], 1);
		support->functions += *stamp != self->stamp;
		*stamp = self->stamp;
		support->executions += fmin(sum->first_sum, sum->count);
		sum->first_sum = 0;
	}
	self->firsts.n = 0;
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
