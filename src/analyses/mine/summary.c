/* SPDX-License-Identifier: MIT */
/*
 * Choose, sharpen, descend. What a sequence covers is found again from the graph, in blocks that
 * several threads search ahead of the choice.
 */
#include "analyses/mine/summary.h"

#include "analyses/mine/closed.h"
#include "analyses/mine/coverage.h"
#include "base/error.h"
#include "base/worker_pool.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_BLOCK = 64, MAX_BLOCK = 16384, MAX_SHARES = 1 << 24, CHUNKS = 16, MAX_CHILDREN = 3 };

static const double keeps_enough = 0.8; /* of the value, for a longer sequence to take the place */
static const double carries_enough = 0.2; /* of the value, for one to stand below */

typedef struct {
	const LodeFlowGraph *graph;
	const LodeMiningRun *run;
	const LodeSummaryOptions *options;
	const LodeProgress *progress;
	uint64_t *signatures;
	bool *is_taken; /* already a line */
	LodeCoverageIndex *index;
	LodeCoverageSearch **searches; /* one a worker */
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

/* The lines chosen so far at one place of the tree, and what each covers. */
typedef struct {
	LodeSummaryLine *lines;
	float *shares;   /* [vertex × limit]: c/n of each chosen sequence */
	double *covered; /* [vertex]: the greatest of them */
	uint32_t n, limit;
	uint64_t max_work;
} Choice;

static void choice_init(Choice *self, const LodeFlowGraph *graph, uint32_t limit)
{
	*self = (Choice){.limit = limit};
	self->lines = g_new0(LodeSummaryLine, limit + 1);
	self->shares = g_new0(float, (size_t)limit * graph->n_vertices + 1);
	self->covered = g_new0(double, graph->n_vertices + 1);
}

static void choice_clear(Choice *self)
{
	g_free(self->shares);
	g_free(self->lines);
	g_free(self->covered);
}

static double new_weight(const Summary *self, const Choice *choice, const GArray *shares)
{
	double sum = 0;

	for (guint i = 0; i < shares->len; i++) {
		const LodeVertexShare *one = &g_array_index(shares, LodeVertexShare, i);
		sum += self->graph->weight[one->vertex] *
		       fmax(0, one->share - choice->covered[one->vertex]);
	}
	return self->graph->total_weight > 0 ? sum / self->graph->total_weight : 0;
}

/* Where a candidate is folded: the chosen line that covers most of its weight. */
typedef struct {
	uint32_t line;
	double overlap;
} Cover;

/* Brings a cover that knows the lines before `first` up to date with the rest. */
static void improve_cover(const Summary *self, const Choice *choice, const GArray *shares,
	uint32_t first, Cover *cover)
{
	g_autofree double *overlaps = g_new0(double, choice->n + 1);

	for (guint i = 0; i < shares->len && first < choice->n; i++) {
		const LodeVertexShare *one = &g_array_index(shares, LodeVertexShare, i);
		const float *chosen = choice->shares + (size_t)one->vertex * choice->limit;
		double weight = self->graph->weight[one->vertex];
		for (uint32_t k = first; k < choice->n; k++) {
			double both = one->share < (double)chosen[k] ? one->share
			                                             : (double)chosen[k];
			overlaps[k] += weight * both;
		}
	}
	for (uint32_t k = first; k < choice->n; k++)
		if (k == 0 || overlaps[k] > cover->overlap)
			*cover = (Cover){k, overlaps[k]};
}

/* Whether most of the sequence is not covered yet; its new weight is set only then. */
static bool is_new(const Summary *self, const Choice *choice, uint32_t sequence,
	const GArray *shares, double *out_new)
{
	double new = new_weight(self, choice, shares);

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

	for (guint i = 0; i < candidates->len; i++) {
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
		g_autoptr(GArray) shares = lode_coverage_find(self->searches[0], index);
		if (shares != NULL && is_new(self, choice, index, shares, out_new))
			return index;
	}
	return chosen;
}

static void choose(Summary *self, Choice *choice, const GArray *candidates, uint32_t sequence,
	const GArray *shares)
{
	LodeSummaryLine *line = &choice->lines[choice->n];

	line->sequence = sharpen(self, choice, candidates, sequence, &line->new_weight);
	self->is_taken[line->sequence] = true;
	for (guint i = 0; i < shares->len; i++) {
		const LodeVertexShare *one = &g_array_index(shares, LodeVertexShare, i);
		double *covered = &choice->covered[one->vertex];
		choice->shares[(size_t)one->vertex * choice->limit + choice->n] = (float)one->share;
		*covered = fmax(*covered, one->share);
	}
	choice->n++;
}

/* What the workers found of one candidate, as the choice stood then. */
typedef struct {
	GArray *shares; /* LodeVertexShare; NULL: cannot be found */
	Cover cover;
	bool is_new;
} Look;

typedef struct {
	Summary *self;
	const Choice *choice;
	const uint32_t *candidates;
	uint32_t n, n_lines; /* of the choice, when the workers looked */
	uint32_t *order;     /* positions in canonical order, so that prefixes are shared */
	Look *looks;         /* by position */
} Block;

static int compare_canonical(const void *a, const void *b, void *user_data)
{
	const Block *block = user_data;
	uint32_t left = block->candidates[*(const uint32_t *)a];
	uint32_t right = block->candidates[*(const uint32_t *)b];

	return (left > right) - (left < right);
}

static void look_at_chunk(size_t task, unsigned worker, void *user_data)
{
	Block *block = user_data;
	size_t first = task * block->n / CHUNKS, end = (task + 1) * block->n / CHUNKS;

	for (size_t i = first; i < end; i++) {
		uint32_t at = block->order[i];
		Look *look = &block->looks[at];
		double new;
		*look = (Look){.shares = lode_coverage_find(
				       block->self->searches[worker], block->candidates[at])};
		if (look->shares == NULL)
			continue;
		look->is_new = is_new(
			block->self, block->choice, block->candidates[at], look->shares, &new);
		if (!look->is_new)
			improve_cover(block->self, block->choice, look->shares, 0, &look->cover);
	}
}

static void look_at(Block *block)
{
	for (uint32_t i = 0; i < block->n; i++)
		block->order[i] = i;
	g_qsort_with_data(block->order, (gint)block->n, sizeof(uint32_t), compare_canonical, block);
	lode_worker_pool_run(CHUNKS, block->self->n_workers, look_at_chunk, block);
}

/* Chooses or folds one candidate. What was not new before the last choice is not new now. */
static void consider(Summary *self, Choice *choice, const GArray *candidates, const Block *block,
	uint32_t position)
{
	Look *look = &block->looks[position];
	LodeSummaryLine *line = &choice->lines[choice->n];
	uint32_t sequence = block->candidates[position];

	/* It may stand there already, in the place of a shorter one that covers less than it. */
	if (self->is_taken[sequence])
		return;
	if (look->is_new && is_new(self, choice, sequence, look->shares, &line->new_weight)) {
		choose(self, choice, candidates, sequence, look->shares);
		return;
	}
	improve_cover(self, choice, look->shares, look->is_new ? 0 : block->n_lines, &look->cover);
	choice->lines[look->cover.line].variants++;
}

/* Goes through a block in order; how many vertex shares it held. */
static size_t take_block(
	Summary *self, Choice *choice, const GArray *candidates, const Block *block)
{
	size_t n_shares = 0;

	for (uint32_t i = 0; i < block->n; i++) {
		Look *look = &block->looks[i];
		if (look->shares == NULL)
			continue;
		n_shares += look->shares->len;
		if (choice->n < choice->limit)
			consider(self, choice, candidates, block, i);
		g_clear_pointer(&look->shares, g_array_unref);
	}
	return n_shares;
}

static bool choose_lines(Summary *self, Choice *choice, const GArray *candidates, GError **error)
{
	g_autofree uint32_t *order = g_new(uint32_t, MAX_BLOCK);
	g_autofree Look *looks = g_new(Look, MAX_BLOCK);
	size_t block_size = MIN_BLOCK;
	uint64_t work = 0;

	for (guint i = 0;
		i < candidates->len && choice->n < choice->limit && work < choice->max_work;) {
		if (lode_progress_is_cancelled(self->progress)) {
			g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return false;
		}
		lode_progress_report(self->progress, "summary", i, candidates->len, NULL);
		Block block = {
			.self = self,
			.choice = choice,
			.candidates = &g_array_index(candidates, uint32_t, i),
			.n = (uint32_t)MIN(candidates->len - i, block_size),
			.n_lines = choice->n,
			.order = order,
			.looks = looks,
		};
		look_at(&block);
		size_t n_shares = take_block(self, choice, candidates, &block);
		size_t per_candidate = n_shares / block.n + 1;
		block_size = CLAMP(MIN(block_size * 2, MAX_SHARES / per_candidate), MIN_BLOCK,
			(size_t)MAX_BLOCK);
		i += block.n;
		work += n_shares;
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

	choice_init(&choice, self->graph, MIN(limit, candidates->len));
	choice.max_work = depth == 0 ? LODE_SUMMARY_WORK : LODE_SUMMARY_CHILD_WORK;
	is_ok = choose_lines(self, &choice, candidates, error);
	for (uint32_t i = 0; i < choice.n && is_ok; i++) {
		LodeSummaryLine line = choice.lines[i];
		const LodeSequence *one = sequence_at(self, line.sequence);
		line.depth = depth;
		line.cost_ratio = one->frequency > 0 ? fmin(one->weight / one->frequency, DBL_MAX)
		                                     : 0;
		g_array_append_val(self->lines, line);
		if (depth == LODE_SUMMARY_DEPTH)
			continue;
		g_autoptr(GArray) children = find_children(self, candidates, line.sequence);
		is_ok = children->len == 0 ||
		        build_below(self, children, MAX_CHILDREN, depth + 1, error);
	}
	choice_clear(&choice);
	return is_ok;
}

/* What costs no more than the average instruction has no place on the screen. */
static GArray *order_candidates(Summary *self)
{
	GArray *candidates = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < self->run->sequences->len; i++)
		if ((self->options->is_eligible == NULL || self->options->is_eligible[i]) &&
			value_of(self, i) > 0)
			g_array_append_val(candidates, i);
	g_array_sort_with_data(candidates, compare_by_value, self);
	return candidates;
}

static bool prepare(Summary *self, GError **error)
{
	uint32_t n = self->run->sequences->len;

	self->signatures = g_new(uint64_t, n + 1);
	self->is_taken = g_new0(bool, n + 1);
	for (uint32_t i = 0; i < n; i++)
		self->signatures[i] = lode_sequence_signature(
			lode_mining_run_items(self->run, i), sequence_at(self, i)->n_items);
	self->n_workers = lode_worker_pool_default_size();
	self->searches = g_new0(LodeCoverageSearch *, self->n_workers);
	self->lines = g_array_new(FALSE, FALSE, sizeof(LodeSummaryLine));
	self->index = lode_coverage_index_new(self->graph, self->run, error);
	for (unsigned i = 0; i < self->n_workers && self->index != NULL; i++)
		self->searches[i] = lode_coverage_search_new(self->index);
	return self->index != NULL;
}

static void clear(Summary *self)
{
	for (unsigned i = 0; i < self->n_workers; i++)
		lode_coverage_search_free(self->searches[i]);
	lode_coverage_index_free(self->index);
	g_free(self->searches);
	g_free(self->signatures);
	g_free(self->is_taken);
}

GArray *lode_summary_build(const LodeFlowGraph *graph, const LodeMiningRun *run,
	const LodeSummaryOptions *options, const LodeProgress *progress, GError **error)
{
	Summary self = {.graph = graph, .run = run, .options = options, .progress = progress};
	bool is_ok = prepare(&self, error);

	if (is_ok) {
		g_autoptr(GArray) candidates = order_candidates(&self);
		is_ok = build_below(&self, candidates, options->limit, 0, error);
	}
	clear(&self);
	if (!is_ok)
		g_clear_pointer(&self.lines, g_array_unref);
	return self.lines;
}

bool lode_summary_add(const LodeFlowGraph *graph, LodeMiningRun *run, const LodeProgress *progress,
	GError **error)
{
	const LodeSummaryOptions options = {
		.order = LODE_SUMMARY_BY_EXCESS, .limit = LODE_SUMMARY_LIMIT};

	g_clear_pointer(&run->summary, g_array_unref);
	run->summary = lode_summary_build(graph, run, &options, progress, error);
	return run->summary != NULL;
}
