/* SPDX-License-Identifier: MIT */
#include "naive_summary.h"

#include "naive_marks.h"
#include "naive_occurrences.h"

#include <math.h>

typedef struct {
	const LodeFlowGraph *graph;
	const LodeMiningRun *run;
	const LodeSummaryOptions *options;
	double **shares; /* [sequence][vertex]: c/n */
	bool *is_line;
	bool is_doubtful;
	GArray *lines;
} Summary;

static const LodeSequence *sequence_at(const Summary *self, uint32_t index)
{
	return &g_array_index(self->run->sequences, LodeSequence, index);
}

static double value_of(const Summary *self, uint32_t index)
{
	const LodeSequence *sequence = sequence_at(self, index);

	switch (self->options->order) {
	case LODE_SUMMARY_BY_WEIGHT:
		return sequence->weight;
	case LODE_SUMMARY_BY_FREQUENCY:
		return sequence->frequency;
	case LODE_SUMMARY_BY_MAXIMAL:
		return fmax(sequence->weight, sequence->frequency);
	case LODE_SUMMARY_BY_DIFFERENTIAL:
		return fabs(sequence->weight - sequence->frequency);
	default:
		return sequence->weight - sequence->frequency;
	}
}

static void find_shares(Summary *self)
{
	uint32_t n = self->run->sequences->len;

	self->shares = g_new0(double *, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		LodeOccurrences *found = naive_occurrences_find(self->graph, &self->run->parameters,
			lode_mining_run_items(self->run, i), sequence_at(self, i)->n_items);
		self->shares[i] = g_new0(double, self->graph->n_vertices + 1);
		for (guint j = 0; j < found->covered->len; j++) {
			const LodeCoveredVertex *covered = &g_array_index(
				found->covered, LodeCoveredVertex, j);
			self->shares[i][covered->vertex] = covered->count /
			                                   self->graph->count[covered->vertex];
		}
		naive_occurrences_free(found);
	}
}

/* The candidate with the greatest value that is not done; ties: larger size, then first in order.
 */
static uint32_t next_candidate(const Summary *self, const bool *is_candidate)
{
	uint32_t best = LODE_NONE;

	for (uint32_t i = 0; i < self->run->sequences->len; i++) {
		if (!is_candidate[i])
			continue;
		if (best == LODE_NONE || value_of(self, i) > value_of(self, best) ||
			(value_of(self, i) == value_of(self, best) &&
				sequence_at(self, i)->n_items > sequence_at(self, best)->n_items))
			best = i;
	}
	return best;
}

/* Σ W(u)·max(0, share − covered) / W*. */
static double new_weight(const Summary *self, uint32_t sequence, const double *covered)
{
	double sum = 0;

	for (uint32_t v = 0; v < self->graph->n_vertices; v++)
		sum += self->graph->weight[v] * fmax(0, self->shares[sequence][v] - covered[v]);
	return self->graph->total_weight > 0 ? sum / self->graph->total_weight : 0;
}

static double overlap(const Summary *self, uint32_t a, uint32_t b)
{
	double sum = 0;

	for (uint32_t v = 0; v < self->graph->n_vertices; v++)
		sum += self->graph->weight[v] * fmin(self->shares[a][v], self->shares[b][v]);
	return sum;
}

static bool is_proper_super(const Summary *self, uint32_t large, uint32_t small)
{
	return large != small && naive_is_contained(self->run, small, large);
}

/* Folds a candidate under the one of n chosen sequences that covers most of it. */
static void fold(Summary *self, uint32_t sequence, LodeSummaryLine *lines, const uint32_t *chosen,
	uint32_t n)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++) {
		double more = overlap(self, sequence, chosen[i]) -
		              overlap(self, sequence, chosen[best]);
		self->is_doubtful |= fabs(more) < 1e-9;
		if (more > 0)
			best = i;
	}
	lines[best].variants++;
}

static bool is_new_enough(Summary *self, uint32_t sequence, const double *covered)
{
	double distance = new_weight(self, sequence, covered) -
	                  sequence_at(self, sequence)->weight / 2;

	self->is_doubtful |= fabs(distance) < 1e-9;
	return distance >= 0;
}

/* The longest that keeps enough of the value and is itself new. */
static uint32_t sharpen(
	Summary *self, const bool *is_member, uint32_t chosen, const double *covered)
{
	double needed = 0.8 * value_of(self, chosen);
	uint32_t best = chosen;

	for (uint32_t i = 0; needed > 0 && i < self->run->sequences->len; i++) {
		uint32_t size = sequence_at(self, i)->n_items;
		uint32_t best_size = sequence_at(self, best)->n_items;
		if (!is_member[i] || self->is_line[i] || value_of(self, i) < needed ||
			!is_proper_super(self, i, chosen) || !is_new_enough(self, i, covered))
			continue;
		if (size > best_size || (size == best_size && best != chosen &&
						value_of(self, i) > value_of(self, best)))
			best = i;
	}
	return best;
}

static void build(Summary *self, const bool *is_member, uint32_t limit, uint32_t depth);

static void descend(Summary *self, const bool *is_member, const LodeSummaryLine *line)
{
	uint32_t n = self->run->sequences->len;
	g_autofree bool *is_child = g_new0(bool, n + 1);
	double value = value_of(self, line->sequence);

	g_array_append_vals(self->lines, line, 1);
	if (line->depth == 3 || value <= 0)
		return;
	for (uint32_t i = 0; i < n; i++)
		is_child[i] = is_member[i] && !self->is_line[i] &&
		              value_of(self, i) >= 0.2 * value &&
		              is_proper_super(self, i, line->sequence);
	build(self, is_child, 3, line->depth + 1);
}

static void build(Summary *self, const bool *is_member, uint32_t limit, uint32_t depth)
{
	uint32_t n_chosen = 0, sequence;
	g_autofree bool *is_left = g_memdup2(is_member, self->run->sequences->len + 1);
	g_autofree double *covered = g_new0(double, self->graph->n_vertices + 1);
	g_autofree uint32_t *chosen = g_new0(uint32_t, limit);
	g_autofree LodeSummaryLine *lines = g_new0(LodeSummaryLine, limit);

	while (n_chosen < limit && (sequence = next_candidate(self, is_left)) != LODE_NONE) {
		is_left[sequence] = false;
		if (self->is_line[sequence])
			continue;
		if (!is_new_enough(self, sequence, covered)) {
			fold(self, sequence, lines, chosen, n_chosen);
			continue;
		}
		LodeSummaryLine *line = &lines[n_chosen];
		line->depth = depth;
		line->sequence = sharpen(self, is_member, sequence, covered);
		line->new_weight = new_weight(self, line->sequence, covered);
		line->cost_ratio = sequence_at(self, line->sequence)->weight /
		                   sequence_at(self, line->sequence)->frequency;
		self->is_line[line->sequence] = true;
		for (uint32_t v = 0; v < self->graph->n_vertices; v++)
			covered[v] = fmax(covered[v], self->shares[sequence][v]);
		chosen[n_chosen++] = sequence;
	}
	for (uint32_t i = 0; i < n_chosen; i++)
		descend(self, is_member, &lines[i]);
}

GArray *naive_summary_build(const LodeFlowGraph *graph, const LodeMiningRun *run,
	const LodeSummaryOptions *options, bool *out_is_doubtful)
{
	uint32_t n = run->sequences->len;
	Summary self = {.graph = graph, .run = run, .options = options};
	g_autofree bool *is_member = g_new0(bool, n + 1);

	for (uint32_t i = 0; i < n; i++)
		is_member[i] = (options->is_eligible == NULL || options->is_eligible[i]) &&
		               value_of(&self, i) > 0;
	self.is_line = g_new0(bool, n + 1);
	self.lines = g_array_new(FALSE, FALSE, sizeof(LodeSummaryLine));
	find_shares(&self);
	build(&self, is_member, options->limit, 0);
	for (uint32_t i = 0; i < n; i++)
		g_free(self.shares[i]);
	g_free(self.shares);
	g_free(self.is_line);
	*out_is_doubtful = self.is_doubtful;
	return self.lines;
}
