/* SPDX-License-Identifier: MIT */
#include "analyses/findings/findings.h"

#include "analyses/findings/cost_model.h"
#include "analyses/findings/finding_description.h"
#include "analyses/findings/observations.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/worker_pool.h"
#include "model/findings.h"
#include "model/index.h"
#include "model/mining_run.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* Candidates within this of the greatest score, or within so many standard deviations, are equals,
 * of which the plainer one is taken: another recording would order them differently. */
#define EQUAL_SCORE 0.02
#define EQUAL_DEVIATIONS 1.0

/* Where a pattern holds at fewer places in effect, the places say the same with less chance in what
 * they have in common. */
#define MIN_PATTERN_PLACES 4.0

/* A candidate that would explain so much of its weight where a chosen cause does is not plain. */
#define CAUSED_SHARE 0.1

/* All candidates are scored in the first rounds and then every few rounds; in between, those whose
 * previous score is at least this share of the greatest. */
enum { FIRST_ROUNDS = 8, ROUNDS_BETWEEN = 8 };
#define FIRST_SHARE 0.5

/* A loss of so many times the price after a coarse fit is above it after a fine one. */
#define FAR_MORE 1.5

/* The first β of a term that explains nothing in a part as yet, as a share of the base. */
#define FIRST_BETA 1e-3

#define COARSE_FIT 2e-2
#define ROUGH_FIT 1e-3
#define FINAL_FIT 1e-5
enum { ROUGH_STEPS = 60, FINAL_STEPS = 300 };

/* The samples of one profile and the model of them. */
typedef struct {
	const LodeObservations *seen;
	LodeCostModel model;
	double *gains; /* of each column, in the model that it was scored in */
	double *betas; /* of each column: its best one there */
	double dispersion;
	bool *is_caused; /* of each sampled vertex: a chosen cause explains it */
} Part;

typedef struct {
	const LodeObservations *seen; /* of all parts */
	const LodeCandidates *candidates;
	Part parts[LODE_FITTED_MAX_PARTS];
	unsigned n_parts;
	GArray *chosen;           /* uint32_t: candidate of each term */
	bool *is_scored;          /* of each column: in the present model */
	GArray *to_score;         /* uint32_t: columns */
	double *prices;           /* of each column: the least of its members */
	double *cause_prices;     /* likewise of those that name a cause; HUGE_VAL: none */
	bool *is_cause;           /* of each attribute */
	bool *is_taken;           /* of each column */
	bool *is_place;           /* of each column: of one instruction alone */
	LodeGainScratch *scratch; /* of each worker */
	unsigned n_workers;
	LodeWorkerCrew *crew;
	const LodeProgress *progress;
} Choice;

static const LodeCandidate *candidate_at(const Choice *self, uint32_t index)
{
	return &g_array_index(self->candidates->candidates, LodeCandidate, index);
}

static LodeCostTerm term_of(const Choice *self, unsigned part, uint32_t column)
{
	const LodeCandidates *all = self->candidates;
	const GArray *vertex_starts = part == 0 ? all->column_starts : all->vertex_middles;
	const GArray *block_starts = part == 0 ? all->block_starts : all->block_middles;
	size_t first = g_array_index(vertex_starts, size_t, column);
	size_t end = part == 0 ? g_array_index(all->vertex_middles, size_t, column)
	                       : g_array_index(all->column_starts, size_t, column + 1);
	size_t block = g_array_index(block_starts, size_t, column);
	size_t block_end = part == 0 ? g_array_index(all->block_middles, size_t, column)
	                             : g_array_index(all->block_starts, size_t, column + 1);

	return (LodeCostTerm){
		.vertices = &g_array_index(all->vertices, LodeFocusVertex, first),
		.blocks = &g_array_index(all->blocks, LodeFocusBlock, block),
		.n_vertices = end - first,
		.n_blocks = block_end - block,
		.executions = g_array_index(
			all->executions, double, LODE_FITTED_MAX_PARTS *(size_t)column + part),
	};
}

static double least_price(const Choice *self, uint32_t column)
{
	uint32_t i = g_array_index(self->candidates->column_members, uint32_t, column);
	double price = HUGE_VAL;

	for (; i != LODE_NONE; i = g_array_index(self->candidates->next_member, uint32_t, i))
		price = fmin(price, (double)candidate_at(self, i)->price);
	return price;
}

static bool names_cause(const Choice *self, const LodeCandidate *candidate)
{
	const LodeFlowGraph *graph = self->seen->graph;

	if (candidate->place != LODE_NONE) {
		uint32_t vertex = self->seen->vertices[self->seen->sampled[candidate->place]];
		uint32_t class = graph->attribute_classes[vertex];
		for (uint32_t i = graph->class_starts[class]; i < graph->class_starts[class + 1];
			i++)
			if (self->is_cause[graph->class_members[i]])
				return true;
		return false;
	}
	for (int i = 0; i < 2; i++)
		if (candidate->focus[i] != LODE_NONE && self->is_cause[candidate->focus[i]])
			return true;
	return false;
}

static void find_causes(Choice *self)
{
	uint32_t n_attributes = self->seen->graph->n_attributes;
	size_t n_columns = lode_candidates_n_columns(self->candidates);

	self->is_cause = g_new0(bool, n_attributes + 1);
	for (uint32_t a = 0; a < n_attributes; a++)
		self->is_cause[a] = lode_attribute_is_cause(self->seen->graph->attribute_names[a]);
	self->cause_prices = g_new(double, n_columns + 1);
	for (size_t c = 0; c < n_columns; c++)
		self->cause_prices[c] = HUGE_VAL;
	for (guint i = 0; i < self->candidates->candidates->len; i++) {
		const LodeCandidate *one = candidate_at(self, i);
		double *price = &self->cause_prices[one->column];
		if (names_cause(self, one))
			*price = fmin(*price, (double)one->price);
	}
}

/* The gain in all parts, each by its own scatter. */
static double gain_of(const Choice *self, size_t column)
{
	double gain = 0;

	for (unsigned p = 0; p < self->n_parts; p++)
		gain += self->parts[p].gains[column] / self->parts[p].dispersion;
	return gain;
}

static double score_of(const Choice *self, size_t column)
{
	return gain_of(self, column) - self->prices[column];
}

/* The search for the best β begins where it ended for the model before, which differs little. */
static void score_column(size_t task, unsigned worker, void *data)
{
	Choice *self = data;
	uint32_t column = g_array_index(self->to_score, uint32_t, task);

	for (unsigned p = 0; p < self->n_parts; p++) {
		Part *part = &self->parts[p];
		LodeCostTerm term = term_of(self, p, column);
		part->gains[column] = lode_cost_model_gain(
			&part->model, &term, &part->betas[column], &self->scratch[worker]);
	}
	self->is_scored[column] = true;
}

/* Scores the columns not yet scored in this round whose previous score is at least `least`. */
static void score_from(Choice *self, double least)
{
	g_array_set_size(self->to_score, 0);
	for (uint32_t c = 0; c < lode_candidates_n_columns(self->candidates); c++)
		if (!self->is_taken[c] && !self->is_scored[c] && score_of(self, c) >= least)
			g_array_append_val(self->to_score, c);
	lode_worker_crew_run(self->crew, self->to_score->len, score_column, self);
}

static void score_all(Choice *self)
{
	memset(self->is_scored, 0, sizeof(bool) * lode_candidates_n_columns(self->candidates));
	score_from(self, -HUGE_VAL);
}

/* The greatest score of the scored columns, or of the others. */
static double greatest_score(const Choice *self, bool is_scored)
{
	double best = -HUGE_VAL;

	for (size_t c = 0; c < lode_candidates_n_columns(self->candidates); c++)
		if (!self->is_taken[c] && self->is_scored[c] == is_scored)
			best = fmax(best, score_of(self, c));
	return best;
}

/* The score from which on a candidate is the equal of the best. Twice a gain is a noncentral χ², so
 * that the variance of a gain is about twice the gain. The deviation is bounded for small scores,
 * where all would be equal. */
static double least_equal(double best)
{
	return best - fmax(EQUAL_SCORE * best, fmin(EQUAL_DEVIATIONS * sqrt(2 * best), best / 2));
}

/*
 * Scores the columns that may be chosen. A score mostly falls as terms are added, so a column with
 * a low previous score is skipped while the score of a different one is above it (M. Minoux,
 * "Accelerated greedy algorithms for maximizing submodular set functions", 1978). It may rise, too,
 * when other vertices of a block become explained: score_all() finds that.
 */
static void score_by_bound(Choice *self)
{
	memset(self->is_scored, 0, sizeof(bool) * lode_candidates_n_columns(self->candidates));
	double least = fmax(0, FIRST_SHARE * greatest_score(self, false));
	for (;;) {
		score_from(self, least);
		least = least_equal(fmax(0, greatest_score(self, true)));
		if (greatest_score(self, false) < least || greatest_score(self, false) <= 0)
			return;
	}
}

/* --- which attributes tell more --- */

enum { RANK_EVENT = 9 };

static int rank_of(const Choice *self, uint32_t attribute)
{
	static const char *const rising[] = {"loop:", "at:", "op:", "obj:", "mem:", "kind:",
		"chain:", "address:", "needs:", "ev:"};

	if (attribute == LODE_NONE)
		return -1;
	const char *name = self->seen->graph->attribute_names[attribute];
	for (int i = 0; i < (int)G_N_ELEMENTS(rising); i++)
		if (g_str_has_prefix(name, rising[i]))
			return i;
	/* The user's own attributes tell most. */
	return (int)G_N_ELEMENTS(rising);
}

/* Above 0 when a is plainer than b, or, if they are equal, when the best attribute of its focus is
 * more specific. */
static int compare_plain(const Choice *self, const LodeCandidate *a, const LodeCandidate *b)
{
	int left = MAX(rank_of(self, a->focus[0]), rank_of(self, a->focus[1]));
	int right = MAX(rank_of(self, b->focus[0]), rank_of(self, b->focus[1]));

	/* Measured events, and what the user said, before all else. */
	if (left != right && MAX(left, right) >= RANK_EVENT)
		return left - right;
	if (a->price < b->price || a->price > b->price)
		return a->price < b->price ? 1 : -1;
	return left - right;
}

/* --- choose --- */

/* Samples of a sampled vertex that a column would explain at its best β. */
static double explain(const Part *part, uint32_t column, const LodeFocusVertex *vertex)
{
	double more = part->betas[column] * (double)vertex->share *
	              part->model.vertices[vertex->sampled].inverse;

	return part->seen->sampled_samples[vertex->sampled] * more / (1 + more);
}

/* How many places explain what a column would explain at its best β: (Σ g)² / Σ g²; in the part
 * that has more. */
static double places_in_effect(const Choice *self, uint32_t column)
{
	double most = 0;

	for (unsigned p = 0; p < self->n_parts; p++) {
		const Part *part = &self->parts[p];
		LodeCostTerm term = term_of(self, p, column);
		double sum = 0, squares = 0;
		for (size_t i = 0; i < term.n_vertices; i++) {
			double explained = explain(part, column, &term.vertices[i]);
			sum += explained;
			squares += explained * explained;
		}
		most = fmax(most, squares > 0 ? sum * sum / squares : 0);
	}
	return most;
}

/* Whether a column would explain again what a chosen cause does, beside other things. */
static bool claims_caused(const Choice *self, uint32_t column)
{
	double all = 0, caused = 0;

	for (unsigned p = 0; p < self->n_parts; p++) {
		const Part *part = &self->parts[p];
		LodeCostTerm term = term_of(self, p, column);
		for (size_t i = 0; i < term.n_vertices; i++) {
			double explained = explain(part, column, &term.vertices[i]);
			all += explained;
			caused += part->is_caused[term.vertices[i].sampled] ? explained : 0;
		}
	}
	return caused > CAUSED_SHARE * all;
}

/* Passes over the patterns with a score of at least `least` that are of few places. True where
 * there were any: the scores are then others. */
static bool pass_few_places(Choice *self, double least)
{
	bool is_any = false;

	for (uint32_t c = 0; c < lode_candidates_n_columns(self->candidates); c++) {
		if (self->is_taken[c] || !self->is_scored[c] || self->is_place[c] ||
			score_of(self, c) < least ||
			places_in_effect(self, c) >= MIN_PATTERN_PLACES)
			continue;
		for (unsigned p = 0; p < self->n_parts; p++)
			self->parts[p].gains[c] = 0;
		is_any = true;
	}
	return is_any;
}

static double greatest_cause_score(const Choice *self)
{
	double best = -HUGE_VAL;

	for (size_t c = 0; c < lode_candidates_n_columns(self->candidates); c++)
		if (!self->is_taken[c] && self->is_scored[c] && self->cause_prices[c] < HUGE_VAL)
			best = fmax(best, gain_of(self, c) - self->cause_prices[c]);
	return best;
}

/*
 * The best candidate by the scores, LODE_NONE where none is above its price. An attribute that two
 * causes share by chance, such as that both load, can explain more than either: the causes are
 * chosen first, and the attribute gets the rest. If it is the cause of both, they are not worth
 * their price beside it, and are dropped.
 */
static uint32_t choose(Choice *self)
{
	double least;
	bool is_of_causes, is_claiming = false;
	uint32_t chosen = LODE_NONE;

	do {
		double best = greatest_score(self, true), cause = greatest_cause_score(self);
		if (best <= 0)
			return LODE_NONE;
		is_of_causes = cause > 0;
		least = least_equal(is_of_causes ? cause : best);
	} while (pass_few_places(self, least));
	for (guint i = 0; i < self->candidates->candidates->len; i++) {
		const LodeCandidate *one = candidate_at(self, i);
		double score = gain_of(self, one->column) - (double)one->price;
		if (self->is_taken[one->column] || !self->is_scored[one->column] || score < least ||
			self->is_place[one->column] != (one->place != LODE_NONE) ||
			(is_of_causes && !names_cause(self, one)))
			continue;
		bool claims = claims_caused(self, one->column);
		if (chosen == LODE_NONE || (is_claiming && !claims) ||
			(is_claiming == claims &&
				compare_plain(self, one, candidate_at(self, chosen)) > 0)) {
			chosen = i;
			is_claiming = claims;
		}
	}
	return chosen;
}

/* The column that a part gains most by; LODE_NONE: by none. */
static uint32_t best_of_part(const Choice *self, const Part *part)
{
	uint32_t best = LODE_NONE;

	for (uint32_t c = 0; c < lode_candidates_n_columns(self->candidates); c++)
		if (!self->is_taken[c] && part->gains[c] > 0 &&
			(best == LODE_NONE || part->gains[c] > part->gains[best]))
			best = c;
	return best;
}

/*
 * Where no candidate is above its price, one that explains most of the scatter may hide itself: the
 * dispersion is then taken of the model with the candidate of greatest gain, as an F test does, and
 * as drop() computes it later. Each part has its own candidate: in the gain of both, a part's large
 * scatter hides a cost that exists there alone.
 */
static void score_beside_best(Choice *self)
{
	for (unsigned p = 0; p < self->n_parts; p++) {
		Part *part = &self->parts[p];
		uint32_t best = best_of_part(self, part);
		if (best == LODE_NONE)
			continue;
		LodeCostTerm term = term_of(self, p, best);
		g_autoptr(GArray) terms = g_array_copy(part->model.terms);
		double base = part->model.base;
		term.beta = part->betas[best];
		lode_cost_model_add(&part->model, &term);
		lode_cost_model_fit(&part->model, ROUGH_FIT, ROUGH_STEPS);
		double dispersion = lode_cost_model_dispersion(&part->model);
		g_array_set_size(part->model.terms, 0);
		g_array_append_vals(part->model.terms, terms->data, terms->len);
		part->model.base = base;
		lode_cost_model_fit(&part->model, ROUGH_FIT, 0); /* as it was */
		part->dispersion = fmin(part->dispersion, dispersion);
	}
}

/* A term that explains nothing of one part yet may do so beside others: a fit multiplies, so that
 * nothing would stay nothing. */
static double first_beta(const Part *part, const LodeCostTerm *term, uint32_t column)
{
	return part->betas[column] <= 0 && term->n_vertices > 0 ? FIRST_BETA * part->model.base
	                                                        : part->betas[column];
}

static void add_term(Choice *self, uint32_t column, bool is_of_cause)
{
	for (unsigned p = 0; p < self->n_parts; p++) {
		Part *part = &self->parts[p];
		LodeCostTerm term = term_of(self, p, column);
		for (size_t i = 0; i < term.n_vertices && is_of_cause; i++)
			part->is_caused[term.vertices[i].sampled] = true;
		term.beta = first_beta(part, &term, column);
		lode_cost_model_add(&part->model, &term);
		lode_cost_model_fit(&part->model, ROUGH_FIT, ROUGH_STEPS);
	}
}

static bool choose_all(Choice *self, GError **error)
{
	while (self->chosen->len < LODE_FINDING_MAX) {
		lode_progress_report(
			self->progress, "fitting findings", self->chosen->len, 0, NULL);
		if (lode_progress_is_cancelled(self->progress)) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
			return false;
		}
		for (unsigned p = 0; p < self->n_parts; p++)
			self->parts[p].dispersion = lode_cost_model_dispersion(
				&self->parts[p].model);
		uint32_t chosen = LODE_NONE;
		if (self->chosen->len >= FIRST_ROUNDS && self->chosen->len % ROUNDS_BETWEEN != 0) {
			score_by_bound(self);
			chosen = choose(self);
		}
		if (chosen == LODE_NONE) {
			score_all(self);
			chosen = choose(self);
		}
		if (chosen == LODE_NONE) {
			score_beside_best(self);
			chosen = choose(self);
		}
		if (chosen == LODE_NONE)
			return true;
		const LodeCandidate *one = candidate_at(self, chosen);
		self->is_taken[one->column] = true;
		g_array_append_val(self->chosen, chosen);
		add_term(self, one->column, names_cause(self, one));
	}
	return true;
}

/* Whether a term is plainly worth its price: by Wald's test, in which what another term could
 * explain as well shows as a large error. */
static bool is_plainly_worth(const Choice *self, size_t index, LodeCostError *const *errors)
{
	const LodeCandidate *one = candidate_at(self, g_array_index(self->chosen, uint32_t, index));
	double worth = 0;

	for (unsigned p = 0; p < self->n_parts; p++) {
		const LodeCostModel *model = &self->parts[p].model;
		double beta = lode_cost_model_term(model, index)->beta;
		double error = errors[p][index].beta;
		double deviations = error > 0 ? beta / error : 0;
		worth += deviations * deviations / 2 / lode_cost_model_dispersion(model);
	}
	return worth > 2 * (double)one->price;
}

static double fit_without(
	Choice *self, const double *with, double tolerance, const double *dispersions)
{
	double loss = 0;

	for (unsigned p = 0; p < self->n_parts; p++) {
		LodeCostModel *model = &self->parts[p].model;
		lode_cost_model_fit(model, tolerance, 2 * ROUGH_STEPS);
		loss += (with[p] - lode_cost_model_likelihood(model)) / dispersions[p];
	}
	return loss;
}

/* A cause that explained nothing beside a term that is gone may explain what that did. */
static void reset_causes(Choice *self, Part *part, size_t without)
{
	for (guint j = 0, t = 0; j < self->chosen->len; j++) {
		if (j == without)
			continue;
		LodeCostTerm *term = lode_cost_model_term(&part->model, t++);
		const LodeCandidate *one = candidate_at(
			self, g_array_index(self->chosen, uint32_t, j));
		if (names_cause(self, one) && term->beta < FIRST_BETA * part->model.base)
			term->beta = first_beta(part, term, one->column);
	}
}

/* By how much less the samples are explained without a term, beside their scatter; it is removed. A
 * loss far above the price after a coarse fit is not fitted any further, as it becomes little less.
 */
static double remove_term(Choice *self, size_t index, double price)
{
	double with[LODE_FITTED_MAX_PARTS], dispersions[LODE_FITTED_MAX_PARTS];

	for (unsigned p = 0; p < self->n_parts; p++) {
		LodeCostModel *model = &self->parts[p].model;
		with[p] = lode_cost_model_likelihood(model);
		dispersions[p] = lode_cost_model_dispersion(model);
		lode_cost_model_remove(model, index);
		reset_causes(self, &self->parts[p], index);
	}
	double loss = fit_without(self, with, COARSE_FIT, dispersions);
	return loss > FAR_MORE * price ? loss : fit_without(self, with, ROUGH_FIT, dispersions);
}

static void fit_finally(Choice *self)
{
	for (unsigned p = 0; p < self->n_parts; p++)
		lode_cost_model_fit(&self->parts[p].model, FINAL_FIT, FINAL_STEPS);
}

/* Adds up what a term explains, and what of it on the vertices in `marks`, of each sampled one. */
static void explain_marked(
	const Part *part, const LodeCostTerm *term, const bool *marks, double *all, double *marked)
{
	for (size_t i = 0; i < term->n_vertices; i++) {
		uint32_t v = term->vertices[i].sampled;
		double explained = part->seen->sampled_samples[v] * term->beta *
		                   (double)term->vertices[i].share *
		                   part->model.vertices[v].inverse;
		*all += explained;
		*marked += marks[v] ? explained : 0;
	}
}

/*
 * Where the chosen candidate at `index` names a cause, and the models are fitted without it: the
 * other one, by its index, that names none and explains what it does where the cause would, but for
 * a few places. LODE_NONE: there is none.
 */
static guint substitute_of(const Choice *self, guint index)
{
	const LodeCandidate *cause = candidate_at(
		self, g_array_index(self->chosen, uint32_t, index));
	double all[LODE_FINDING_MAX] = {0}, marked[LODE_FINDING_MAX] = {0};

	if (!names_cause(self, cause))
		return LODE_NONE;
	for (unsigned p = 0; p < self->n_parts; p++) {
		const Part *part = &self->parts[p];
		LodeCostTerm term = term_of(self, p, cause->column);
		g_autofree bool *marks = g_new0(bool, part->seen->n_sampled + 1);
		for (size_t i = 0; i < term.n_vertices; i++)
			marks[term.vertices[i].sampled] = true;
		for (guint j = 0, t = 0; j < self->chosen->len; j++)
			if (j != index)
				explain_marked(part, lode_cost_model_term(&part->model, t++), marks,
					&all[j], &marked[j]);
	}
	for (guint j = 0; j < self->chosen->len; j++) {
		const LodeCandidate *one = candidate_at(
			self, g_array_index(self->chosen, uint32_t, j));
		if (marked[j] > 0 && marked[j] >= LODE_COMMON_CAUSE_SHARE * all[j] &&
			!names_cause(self, one))
			return j;
	}
	return LODE_NONE;
}

static void find_errors(const Choice *self, LodeCostError **errors)
{
	for (unsigned p = 0; p < self->n_parts; p++) {
		g_free(errors[p]);
		errors[p] = lode_cost_model_errors(&self->parts[p].model);
	}
}

/* Tries the term at `index`: removes it if it is not worth its price, or its substitute instead,
 * and returns the index of the removed one; LODE_NONE: none. */
static guint drop_at(Choice *self, guint index)
{
	double price =
		(double)candidate_at(self, g_array_index(self->chosen, uint32_t, index))->price;
	GArray *terms[LODE_FITTED_MAX_PARTS] = {NULL};
	guint dropped = LODE_NONE;

	for (unsigned p = 0; p < self->n_parts; p++)
		terms[p] = g_array_copy(self->parts[p].model.terms);
	if (remove_term(self, index, price) < price) {
		guint substitute = substitute_of(self, index);
		dropped = substitute == LODE_NONE ? index : substitute;
	}
	for (unsigned p = 0; p < self->n_parts; p++) {
		LodeCostModel *model = &self->parts[p].model;
		if (dropped != index) {
			g_array_set_size(model->terms, 0);
			g_array_append_vals(model->terms, terms[p]->data, terms[p]->len);
			lode_cost_model_fit(model, ROUGH_FIT, 2);
		}
		g_array_unref(terms[p]);
	}
	if (dropped != index && dropped != LODE_NONE)
		remove_term(self, dropped, price);
	if (dropped != LODE_NONE)
		g_array_remove_index(self->chosen, dropped);
	return dropped;
}

/*
 * Removes terms that are not worth their price beside the others: by how much better all explain
 * the samples with the term than when they are fitted without it. Between a cause and an attribute
 * that it shares with a few places that cost as much by chance, the cause stays.
 */
static void drop(Choice *self)
{
	LodeCostError *errors[LODE_FITTED_MAX_PARTS] = {NULL};

	fit_finally(self);
	find_errors(self, errors);
	for (guint j = self->chosen->len; j-- > 0;) {
		if (is_plainly_worth(self, j, errors))
			continue;
		guint dropped = drop_at(self, j);
		if (dropped != LODE_NONE && dropped != j) {
			fit_finally(self);
			find_errors(self, errors);
			j = self->chosen->len;
		}
	}
	fit_finally(self);
	for (unsigned p = 0; p < self->n_parts; p++)
		g_free(errors[p]);
}

LODE_ORDER(compare_findings, LodeFinding, LODE_DESCENDING(time), LODE_ASCENDING(first_element))

/* The share of all weight that lies in blocks of one instruction. */
static double weigh_single_blocks(const LodeObservations *seen)
{
	double samples = 0;

	for (uint32_t b = 0; !seen->is_counted && b < seen->n_blocks; b++)
		if (seen->block_sizes[b] < 2)
			samples += seen->block_samples[b];
	return seen->total_samples > 0 ? samples / seen->total_samples : 0;
}

static void part_init(Part *self, const Choice *choice)
{
	size_t n_columns = lode_candidates_n_columns(choice->candidates);

	self->gains = g_new0(double, n_columns + 1);
	self->betas = g_new0(double, n_columns + 1);
	self->dispersion = 1;
	self->is_caused = g_new0(bool, self->seen->n_sampled + 1);
	lode_cost_model_init(&self->model, self->seen);
	self->model.crew = choice->crew;
}

static void part_clear(Part *self)
{
	lode_cost_model_clear(&self->model);
	g_free(self->gains);
	g_free(self->betas);
	g_free(self->is_caused);
}

static void describe(const Choice *self, LodeFindings *const *outs)
{
	LodeFittedFindings fitted = {
		.seen = self->seen,
		.candidates = self->candidates,
		.chosen = self->chosen,
		.n_parts = self->n_parts,
	};

	for (unsigned p = 0; p < self->n_parts; p++)
		fitted.models[p] = &self->parts[p].model;
	lode_fitted_findings_describe(&fitted, outs);
}

/* `out_exposures` of each part, of LodeExposure; NULL: not wanted. */
static bool choose_and_describe(
	Choice *self, LodeFindings *const *outs, GArray *const *out_exposures, GError **error)
{
	size_t n_columns = lode_candidates_n_columns(self->candidates);
	bool is_done;

	self->chosen = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->prices = g_new(double, n_columns + 1);
	self->is_taken = g_new0(bool, n_columns + 1);
	self->is_scored = g_new0(bool, n_columns + 1);
	self->is_place = g_new0(bool, n_columns + 1);
	self->to_score = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->scratch = g_new0(LodeGainScratch, self->n_workers);
	self->crew = lode_worker_crew_new(self->n_workers);
	for (size_t c = 0; c < n_columns; c++) {
		self->prices[c] = least_price(self, (uint32_t)c);
	}
	find_causes(self);
	/* A pattern of the same instruction alone is not taken for it. */
	for (uint32_t i = 0; i < self->candidates->candidates->len; i++) {
		const LodeCandidate *one = candidate_at(self, i);
		if (one->place == LODE_NONE)
			continue;
		self->is_place[one->column] = true;
		self->prices[one->column] = (double)one->price;
	}
	for (unsigned p = 0; p < self->n_parts; p++)
		part_init(&self->parts[p], self);
	is_done = choose_all(self, error);
	if (is_done) {
		drop(self);
		describe(self, outs);
	}
	for (unsigned p = 0; p < self->n_parts && is_done && out_exposures != NULL; p++)
		for (guint j = 0; j < self->chosen->len; j++) {
			LodeExposure one = lode_cost_model_exposure(&self->parts[p].model, j);
			g_array_append_val(out_exposures[p], one);
		}
	for (unsigned p = 0; p < self->n_parts; p++)
		part_clear(&self->parts[p]);
	g_array_unref(self->chosen);
	g_free(self->prices);
	g_free(self->cause_prices);
	g_free(self->is_cause);
	g_free(self->is_taken);
	g_free(self->is_scored);
	g_free(self->is_place);
	g_array_unref(self->to_score);
	lode_worker_crew_free(self->crew);
	for (unsigned i = 0; i < self->n_workers; i++)
		lode_gain_scratch_clear(&self->scratch[i]);
	g_free(self->scratch);
	return is_done;
}

/* The parameters of the fit; some are fixed, whatever the caller's say. */
static LodeMiningParameters own_parameters(const LodeMiningParameters *parameters)
{
	LodeMiningParameters own = *parameters;

	own.granularity = LODE_GRANULARITY_INSTRUCTION;
	own.across_calls = true;
	own.is_instruction_mode = false;
	if (own.threads == 0)
		own.threads = lode_worker_pool_default_size();
	return own;
}

static LodeCandidates *find_candidates(const LodeObservations *seen, unsigned n_workers,
	const LodeProgress *progress, GError **error)
{
	LodeCandidates *candidates = lode_candidates_find(
		seen, LODE_CANDIDATES_MAX_MEMBERS, n_workers, progress);

	if (candidates == NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return candidates;
}

LodeFindings *lode_findings_fit(const LodeProfile *profile, const LodeMiningParameters *parameters,
	const LodeProgress *progress, GError **error)
{
	LodeMiningParameters own = own_parameters(parameters);

	lode_progress_report(progress, "fitting findings", 0, 0, NULL);
	g_autoptr(LodeFlowGraph) graph = lode_flow_graph_build(profile, &own, error);
	if (graph == NULL)
		return NULL;
	g_autoptr(LodeFindings) out = lode_findings_new();
	g_autoptr(LodeObservations) seen = lode_observations_new(profile, graph, own.weight);
	g_autoptr(LodeCandidates) candidates = find_candidates(seen, own.threads, progress, error);
	if (candidates == NULL)
		return NULL;
	Choice choice = {.seen = seen,
		.candidates = candidates,
		.parts = {{.seen = seen}},
		.n_parts = 1,
		.n_workers = own.threads,
		.progress = progress};
	if (!choose_and_describe(&choice, &out, NULL, error))
		return NULL;
	g_array_sort(out->findings, compare_findings);
	out->single = weigh_single_blocks(seen);
	if (candidates->is_limited)
		out->least_share = candidates->needed / seen->total_samples;
	return g_steal_pointer(&out);
}

/* --- of two profiles --- */

void lode_shared_findings_free(LodeSharedFindings *self)
{
	if (self == NULL)
		return;
	for (size_t p = 0; p < LODE_FITTED_MAX_PARTS; p++) {
		lode_findings_free(self->sides[p]);
		g_array_unref(self->exposures[p]);
	}
	g_free(self);
}

/* The elements are the first part's. */
static void copy_elements(LodeFindings *to, const LodeFindings *from)
{
	for (guint i = 0; i < from->attributes->len; i++)
		g_ptr_array_add(to->attributes, g_strdup(g_ptr_array_index(from->attributes, i)));
	g_array_append_vals(to->elements, from->elements->data, from->elements->len);
	g_array_append_vals(to->items, from->items->data, from->items->len);
}

static LodeSharedFindings *fit_joined(LodeObservations *const parts[2], const LodeFlowGraph *joined,
	const uint32_t *counterparts, unsigned n_workers, const LodeProgress *progress,
	GError **error)
{
	g_autoptr(LodeObservations) seen = lode_observations_join(parts, joined, counterparts);
	g_autoptr(LodeCandidates) candidates = find_candidates(seen, n_workers, progress, error);

	if (candidates == NULL)
		return NULL;
	g_autoptr(LodeSharedFindings) out = g_new0(LodeSharedFindings, 1);
	for (size_t p = 0; p < LODE_FITTED_MAX_PARTS; p++) {
		out->sides[p] = lode_findings_new();
		out->exposures[p] = g_array_new(FALSE, FALSE, sizeof(LodeExposure));
	}
	Choice choice = {.seen = seen,
		.candidates = candidates,
		.parts = {{.seen = parts[0]}, {.seen = parts[1]}},
		.n_parts = 2,
		.n_workers = n_workers,
		.progress = progress};
	if (!choose_and_describe(&choice, out->sides, out->exposures, error))
		return NULL;
	copy_elements(out->sides[1], out->sides[0]);
	for (size_t p = 0; p < LODE_FITTED_MAX_PARTS; p++) {
		out->sides[p]->single = weigh_single_blocks(parts[p]);
		for (guint i = 0; i < out->exposures[p]->len && !parts[p]->is_counted; i++) {
			LodeExposure *one = &g_array_index(out->exposures[p], LodeExposure, i);
			one->value *= parts[p]->unit;
			one->error *= parts[p]->unit;
		}
		if (candidates->is_limited)
			out->sides[p]->least_share = candidates->needed / seen->least_samples;
	}
	return g_steal_pointer(&out);
}

static LodeObservations *observe(
	const LodeProfile *profile, const LodeFlowGraph *graph, const char *weight, bool is_counted)
{
	/* A shallow copy: only the kind of frequency differs. */
	LodeProfile alike = *profile;

	if (!is_counted)
		alike.run.frequency = LODE_FREQUENCY_INFERRED;
	return lode_observations_new(&alike, graph, weight);
}

LodeSharedFindings *lode_findings_fit_shared(const LodeProfile *const profiles[2],
	const LodeMiningParameters *parameters, const uint32_t *counterparts,
	const LodeProgress *progress, GError **error)
{
	LodeMiningParameters own = own_parameters(parameters);
	bool is_counted = lode_program_run_of(profiles[0])->frequency != LODE_FREQUENCY_INFERRED &&
	                  lode_program_run_of(profiles[1])->frequency != LODE_FREQUENCY_INFERRED;

	lode_progress_report(progress, "fitting findings", 0, 0, NULL);
	g_autoptr(LodeFlowGraph) first = lode_flow_graph_build(profiles[0], &own, error);
	if (first == NULL)
		return NULL;
	g_autoptr(LodeFlowGraph) second = lode_flow_graph_build(profiles[1], &own, error);
	if (second == NULL)
		return NULL;
	g_autoptr(LodeFlowGraph) joined = lode_flow_graph_join(first, second);
	g_autoptr(LodeObservations) base = observe(profiles[0], first, own.weight, is_counted);
	g_autoptr(LodeObservations) other = observe(profiles[1], second, own.weight, is_counted);
	LodeObservations *const parts[LODE_FITTED_MAX_PARTS] = {base, other};
	return fit_joined(parts, joined, counterparts, own.threads, progress, error);
}
