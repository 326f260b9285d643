/* SPDX-License-Identifier: MIT */
/*
 * Choose, sharpen, descend. What a sequence covers is found again from the graph, sequence by
 * sequence, in blocks that several threads search ahead of the choice.
 */
#include "analyses/mine/summary.h"

#include "analyses/mine/closed.h"
#include "analyses/mine/occurrences.h"
#include "base/error.h"
#include "base/worker_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32, MAX_CHILDREN = 3, MAX_DEPTH = 3 };

static const double keeps_enough = 0.8; /* of the value, for a longer sequence to take the place */
static const double carries_enough = 0.2; /* of the value, for one to stand below */

typedef struct {
	const LodeFlowGraph *graph;
	const LodeMiningRun *run;
	const LodeSummaryOptions *options;
	const LodeProgress *progress;
	uint64_t *signatures;
	bool *is_taken;                  /* already a line */
	LodeOccurrenceSearch **searches; /* one a worker */
	unsigned n_workers;
	GArray *lines;
} Summary;

static const LodeSequence *sequence_at(const Summary *self, uint32_t index)
{
	return &g_array_index(self->run->sequences, LodeSequence, index);
}

/* What the lines are chosen by. */
static double value_of(const Summary *self, uint32_t index)
{
	const LodeSequence *one = sequence_at(self, index);

	switch (self->options->order) {
	case LODE_SUMMARY_BY_EXCESS:
		return lode_sequence_excess(one);
	case LODE_SUMMARY_BY_WEIGHT:
		return one->weight;
	case LODE_SUMMARY_BY_FREQUENCY:
		return one->frequency;
	case LODE_SUMMARY_BY_MAXIMAL:
		return lode_sequence_maximal(one);
	case LODE_SUMMARY_BY_DIFFERENTIAL:
		return lode_sequence_differential(one);
	}
	g_assert_not_reached();
}

/* Falling value; ties: larger size, then canonical order. */
static int compare_by_value(const void *a, const void *b, void *user_data)
{
	const Summary *self = user_data;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double left_value = value_of(self, left), right_value = value_of(self, right);
	uint32_t left_size = sequence_at(self, left)->n_items;
	uint32_t right_size = sequence_at(self, right)->n_items;

	if (left_value != right_value)
		return left_value > right_value ? -1 : 1;
	if (left_size != right_size)
		return left_size > right_size ? -1 : 1;
	return (left > right) - (left < right);
}

/* Falling size; ties: falling value, then canonical order. */
static int compare_by_size(const void *a, const void *b, void *user_data)
{
	const Summary *self = user_data;
	uint32_t left_size = sequence_at(self, *(const uint32_t *)a)->n_items;
	uint32_t right_size = sequence_at(self, *(const uint32_t *)b)->n_items;

	if (left_size != right_size)
		return left_size > right_size ? -1 : 1;
	return compare_by_value(a, b, user_data);
}

static bool is_proper_super(const Summary *self, uint32_t large, uint32_t small)
{
	uint32_t n = sequence_at(self, small)->n_items, in_n = sequence_at(self, large)->n_items;

	return in_n > n && (self->signatures[small] & ~self->signatures[large]) == 0 &&
	       lode_sequence_is_contained(lode_mining_run_items(self->run, small), n,
		       lode_mining_run_items(self->run, large), in_n);
}

/* A block of candidates whose coverage is searched by all workers. */
typedef struct {
	Summary *self;
	const uint32_t *candidates;
	LodeOccurrences *found[BLOCK];
} Block;

static void search_one(size_t task, unsigned worker, void *user_data)
{
	Block *block = user_data;
	Summary *self = block->self;
	uint32_t index = block->candidates[task];
	g_autofree uint32_t *items = lode_occurrences_map_items(self->graph, self->run, index);

	block->found[task] = NULL;
	if (items != NULL)
		block->found[task] = lode_occurrence_search_find(
			self->searches[worker], items, sequence_at(self, index)->n_items, false);
}

/* The lines chosen so far at one place of the tree, and what each covers. */
typedef struct {
	uint32_t *sequences;
	LodeSummaryLine *lines;
	double **shares; /* [chosen][vertex]: c/n */
	double *covered; /* [vertex]: the greatest of them */
	uint32_t n, limit;
} Choice;

static void choice_init(Choice *self, const LodeFlowGraph *graph, uint32_t limit)
{
	*self = (Choice){.limit = limit};
	self->sequences = g_new(uint32_t, limit + 1);
	self->lines = g_new0(LodeSummaryLine, limit + 1);
	self->shares = g_new0(double *, limit + 1);
	self->covered = g_new0(double, graph->n_vertices + 1);
}

static void choice_clear(Choice *self)
{
	for (uint32_t i = 0; i < self->n; i++)
		g_free(self->shares[i]);
	g_free(self->shares);
	g_free(self->sequences);
	g_free(self->lines);
	g_free(self->covered);
}

static double new_weight(const Summary *self, const Choice *choice, const LodeOccurrences *found)
{
	double sum = 0;

	for (guint i = 0; i < found->covered->len; i++) {
		const LodeCoveredVertex *one = &g_array_index(found->covered, LodeCoveredVertex, i);
		double share = one->count / self->graph->count[one->vertex];
		sum += self->graph->weight[one->vertex] *
		       fmax(0, share - choice->covered[one->vertex]);
	}
	return self->graph->total_weight > 0 ? sum / self->graph->total_weight : 0;
}

/* The chosen line that covers most of the sequence's weight. */
static uint32_t best_cover(const Summary *self, const Choice *choice, const LodeOccurrences *found)
{
	uint32_t best = 0;
	double best_overlap = -1;

	for (uint32_t k = 0; k < choice->n; k++) {
		double overlap = 0;
		for (guint i = 0; i < found->covered->len; i++) {
			const LodeCoveredVertex *one = &g_array_index(
				found->covered, LodeCoveredVertex, i);
			overlap += self->graph->weight[one->vertex] *
			           fmin(one->count / self->graph->count[one->vertex],
					   choice->shares[k][one->vertex]);
		}
		if (overlap > best_overlap) {
			best_overlap = overlap;
			best = k;
		}
	}
	return best;
}

/* Whether most of the sequence is not covered yet; its new weight is set only then. */
static bool is_new(const Summary *self, const Choice *choice, uint32_t sequence,
	const LodeOccurrences *found, double *out_new)
{
	double new = new_weight(self, choice, found);

	if (!(new >= sequence_at(self, sequence)->weight / 2))
		return false;
	*out_new = new;
	return true;
}

/* Among the candidates, the proper super-sequences that keep enough of the value, longest first. */
static GArray *find_sharper(const Summary *self, const GArray *candidates, uint32_t chosen)
{
	GArray *sharper = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	double needed = keeps_enough * value_of(self, chosen);

	for (guint i = 0; needed > 0 && i < candidates->len; i++) {
		uint32_t index = g_array_index(candidates, uint32_t, i);
		if (value_of(self, index) < needed)
			break;
		if (!self->is_taken[index] && is_proper_super(self, index, chosen))
			g_array_append_val(sharper, index);
	}
	g_array_sort_with_data(sharper, compare_by_size, (void *)self);
	return sharper;
}

/*
 * The line that stands for a chosen sequence. A longer one takes its place only where it is as new
 * as the rule of choice asks: else the place would go to a repetition of a line above.
 */
static uint32_t sharpen(const Summary *self, const Choice *choice, const GArray *candidates,
	uint32_t chosen, double *out_new)
{
	g_autoptr(GArray) sharper = find_sharper(self, candidates, chosen);

	for (guint i = 0; i < sharper->len; i++) {
		uint32_t index = g_array_index(sharper, uint32_t, i);
		g_autofree uint32_t *items = lode_occurrences_map_items(
			self->graph, self->run, index);
		g_autoptr(LodeOccurrences) found = lode_occurrence_search_find(
			self->searches[0], items, sequence_at(self, index)->n_items, false);
		if (is_new(self, choice, index, found, out_new))
			return index;
	}
	return chosen;
}

static void choose(Summary *self, Choice *choice, const GArray *candidates, uint32_t sequence,
	const LodeOccurrences *found)
{
	double *shares = g_new0(double, self->graph->n_vertices + 1);
	LodeSummaryLine *line = &choice->lines[choice->n];

	line->sequence = sharpen(self, choice, candidates, sequence, &line->new_weight);
	self->is_taken[line->sequence] = true;
	for (guint i = 0; i < found->covered->len; i++) {
		const LodeCoveredVertex *one = &g_array_index(found->covered, LodeCoveredVertex, i);
		double share = one->count / self->graph->count[one->vertex];
		shares[one->vertex] = share;
		choice->covered[one->vertex] = fmax(choice->covered[one->vertex], share);
	}
	choice->sequences[choice->n] = sequence;
	choice->shares[choice->n++] = shares;
}

/* Chooses or folds one candidate. */
static void consider(Summary *self, Choice *choice, const GArray *candidates, uint32_t sequence,
	const LodeOccurrences *found)
{
	if (is_new(self, choice, sequence, found, &choice->lines[choice->n].new_weight))
		choose(self, choice, candidates, sequence, found);
	else
		choice->lines[best_cover(self, choice, found)].variants++;
}

static bool choose_lines(Summary *self, Choice *choice, const GArray *candidates, GError **error)
{
	Block block = {.self = self};

	for (guint i = 0; i < candidates->len && choice->n < choice->limit; i += BLOCK) {
		guint n = MIN(candidates->len - i, BLOCK);
		if (lode_progress_is_cancelled(self->progress)) {
			g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return false;
		}
		lode_progress_report(self->progress, "summary", choice->n, choice->limit, NULL);
		block.candidates = &g_array_index(candidates, uint32_t, i);
		lode_worker_pool_run(n, self->n_workers, search_one, &block);
		for (guint j = 0; j < n; j++) {
			if (block.found[j] != NULL && choice->n < choice->limit)
				consider(self, choice, candidates, block.candidates[j],
					block.found[j]);
			lode_occurrences_free(block.found[j]);
		}
	}
	return true;
}

/* The reported proper super-sequences of `parent` that carry enough of its value. */
static GArray *find_children(const Summary *self, const GArray *candidates, uint32_t parent)
{
	GArray *children = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	double needed = carries_enough * value_of(self, parent);

	for (guint i = 0; i < candidates->len; i++) {
		uint32_t index = g_array_index(candidates, uint32_t, i);
		if (value_of(self, index) < needed)
			break;
		if (!self->is_taken[index] && is_proper_super(self, index, parent))
			g_array_append_val(children, index);
	}
	return children;
}

static bool build_below(
	Summary *self, const GArray *candidates, uint32_t limit, uint32_t depth, GError **error)
{
	Choice choice;
	bool is_ok;

	choice_init(&choice, self->graph, limit);
	is_ok = choose_lines(self, &choice, candidates, error);
	for (uint32_t i = 0; i < choice.n && is_ok; i++) {
		LodeSummaryLine line = choice.lines[i];
		const LodeSequence *one = sequence_at(self, line.sequence);
		line.depth = depth;
		line.cost_ratio = one->frequency > 0 ? one->weight / one->frequency : 0;
		g_array_append_val(self->lines, line);
		if (depth == MAX_DEPTH || !(value_of(self, line.sequence) > 0))
			continue;
		g_autoptr(GArray) children = find_children(self, candidates, line.sequence);
		is_ok = children->len == 0 ||
		        build_below(self, children, MAX_CHILDREN, depth + 1, error);
	}
	choice_clear(&choice);
	return is_ok;
}

static GArray *order_candidates(Summary *self)
{
	GArray *candidates = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < self->run->sequences->len; i++)
		if (self->options->is_eligible == NULL || self->options->is_eligible[i])
			g_array_append_val(candidates, i);
	g_array_sort_with_data(candidates, compare_by_value, self);
	return candidates;
}

static void prepare(Summary *self)
{
	uint32_t n = self->run->sequences->len;

	self->signatures = g_new(uint64_t, n + 1);
	self->is_taken = g_new0(bool, n + 1);
	for (uint32_t i = 0; i < n; i++)
		self->signatures[i] = lode_sequence_signature(
			lode_mining_run_items(self->run, i), sequence_at(self, i)->n_items);
	self->n_workers = lode_worker_pool_default_size();
	self->searches = g_new0(LodeOccurrenceSearch *, self->n_workers);
	for (unsigned i = 0; i < self->n_workers; i++)
		self->searches[i] = lode_occurrence_search_new(self->graph, &self->run->parameters);
	self->lines = g_array_new(FALSE, FALSE, sizeof(LodeSummaryLine));
}

GArray *lode_summary_build(const LodeFlowGraph *graph, const LodeMiningRun *run,
	const LodeSummaryOptions *options, const LodeProgress *progress, GError **error)
{
	Summary self = {.graph = graph, .run = run, .options = options, .progress = progress};

	prepare(&self);
	g_autoptr(GArray) candidates = order_candidates(&self);
	bool is_ok = build_below(&self, candidates, options->limit, 0, error);
	for (unsigned i = 0; i < self.n_workers; i++)
		lode_occurrence_search_free(self.searches[i]);
	g_free(self.searches);
	g_free(self.signatures);
	g_free(self.is_taken);
	if (!is_ok)
		g_clear_pointer(&self.lines, g_array_unref);
	return self.lines;
}
