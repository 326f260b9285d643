/* SPDX-License-Identifier: MIT */
#include "analyses/findings/cost_model.h"

#include "analyses/findings/observations.h"
#include "base/arrays/partition_point.h"
#include "base/quick_log.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
	MAX_GAIN_STEPS = 40,
	LANES = 4,                /* sums side by side, as each addition waits for the one before */
	MEMORY = 5,               /* positions of a fit that the next one is made from */
	PART = 1024,              /* vertices or blocks of a part */
	SHARED_ENTRIES = 1 << 15, /* fewer are not worth waking other threads */
};

/* A term that explains less than this share of the samples is not waited for. */
#define NEGLIGIBLE_SHARE 1e-6

/* How far an extrapolation may lead, in logarithms of β. */
#define MAX_WAY 20.0

/* Keeps what is made of positions in nearly one line from leading anywhere. */
#define DAMPING 1e-6

/* How much further than a step that is certain not to overshoot one may lead that might. */
#define MAX_STRETCH 8.0

/* Σ n(u) r(u), where executions were counted. */
static double expected_samples(const LodeCostModel *self)
{
	double sum = self->base * self->all_executions;

	for (guint j = 0; j < self->terms->len; j++)
		sum += lode_cost_model_term(self, j)->beta *
		       lode_cost_model_term(self, j)->executions;
	return sum;
}

/* --- sums in lanes --- */

static double add_lanes(const double *lanes)
{
	double sum = 0;

	for (size_t k = 0; k < LANES; k++)
		sum += lanes[k];
	return sum;
}

/* Σ samples × log(base + factor × value); not a number where one of these is not finite. They must
 * not be below the least normal number. */
static double sum_logs(
	const double *samples, const double *values, size_t n, double base, double factor)
{
	double sums[LANES] = {0};
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			sums[k] += samples[i + k] *
			           lode_quick_log_of_normal(base + factor * values[i + k]);
	for (size_t k = 0; i + k < n; k++)
		sums[k] += samples[i + k] * lode_quick_log_of_normal(base + factor * values[i + k]);
	return add_lanes(sums);
}

/* --- passes over all vertices and blocks --- */

/* The outputs of a pass: r(u) and Σ r(u) of the blocks from the terms; from these the sums of the
 * next EM step; the likelihood. */
enum { MAKES_RATES = 1, MAKES_SUMS = 2, MAKES_LIKELIHOOD = 4, MAKES_ALL = 7 };

typedef struct {
	LodeCostModel *model;
	unsigned makes;
} Pass;

/* The sums of a part, before those of each term. */
enum { RATIO_SUM, LIKELIHOOD, N_OWN_SUMS };

static double *sums_of(GArray *sums, const LodeCostModel *self, size_t part)
{
	return (double *)(void *)sums->data + part * (N_OWN_SUMS + self->terms->len);
}

/* Where part `part` of a term's vertices begins, and one more; those of the blocks come after. */
static const size_t *starts_of(const LodeCostModel *self, size_t term, size_t part)
{
	size_t n = (size_t)self->n_vertex_parts + self->n_block_parts + 2;

	return (const size_t *)(const void *)self->part_starts->data + term * n + part;
}

/* One term in one part: the vertices `from` up to `to` add to their rates… */
static void add_vertices(
	const LodeFocusVertex *from, const LodeFocusVertex *to, double beta, double *restrict rates)
{
	for (; from < to; from++)
		rates[from->sampled] += beta * (double)from->share;
}

/* …and Σ share × ratio, in two sums, as each addition waits for the one before. */
static double sum_vertices(const LodeFocusVertex *from, const LodeFocusVertex *to,
	const double *ratios, uint32_t first)
{
	double even = 0, odd = 0;

	for (; from + 1 < to; from += 2) {
		even += (double)from[0].share * ratios[from[0].sampled - first];
		odd += (double)from[1].share * ratios[from[1].sampled - first];
	}
	if (from < to)
		even += (double)from->share * ratios[from->sampled - first];
	return even + odd;
}

static void rate_vertices(const LodeCostModel *self, size_t part, uint32_t first, uint32_t end)
{
	double *rates = self->rates;
	LodeRatedVertex *vertices = self->vertices;

	for (uint32_t k = first; k < end; k++)
		rates[k] = self->base;
	for (guint j = 0; j < self->terms->len; j++) {
		const LodeCostTerm *term = lode_cost_model_term(self, j);
		const size_t *starts = starts_of(self, j, part);
		add_vertices(
			term->vertices + starts[0], term->vertices + starts[1], term->beta, rates);
	}
	for (uint32_t k = first; k < end; k++)
		vertices[k].inverse = rates[k] > 0 ? 1 / rates[k] : 0;
}

static double vertices_likelihood(const LodeCostModel *self, uint32_t first, uint32_t end)
{
	double rates[PART];

	for (uint32_t k = first; k < end; k++)
		rates[k - first] = self->rates[k] > DBL_MIN ? self->rates[k] : DBL_MIN;
	return sum_logs(self->seen->sampled_samples + first, rates, end - first, 0, 1);
}

static void pass_vertices(const Pass *pass, size_t part)
{
	LodeCostModel *self = pass->model;
	double *sums = sums_of(self->part_sums, self, part), ratios[PART];
	uint32_t first = (uint32_t)part * PART, end = MIN(first + PART, self->seen->n_sampled);

	if ((pass->makes & MAKES_RATES) != 0)
		rate_vertices(self, part, first, end);
	if ((pass->makes & MAKES_LIKELIHOOD) != 0)
		sums[LIKELIHOOD] = vertices_likelihood(self, first, end);
	if ((pass->makes & MAKES_SUMS) == 0)
		return;
	for (uint32_t k = first; k < end; k++) {
		ratios[k - first] = self->vertices[k].samples * self->vertices[k].inverse;
		sums[RATIO_SUM] += ratios[k - first];
	}
	for (guint j = 0; j < self->terms->len; j++) {
		const LodeFocusVertex *vertices = lode_cost_model_term(self, j)->vertices;
		const size_t *starts = starts_of(self, j, part);
		sums[N_OWN_SUMS + j] = sum_vertices(
			vertices + starts[0], vertices + starts[1], ratios, first);
	}
}

/* The same of blocks. */
static void add_blocks(const LodeFocusBlock *from, const LodeFocusBlock *to, double beta,
	double *restrict rates, uint32_t first)
{
	for (; from < to; from++)
		rates[from->block - first] += beta * (double)from->share;
}

static double sum_blocks(
	const LodeFocusBlock *from, const LodeFocusBlock *to, const double *ratios, uint32_t first)
{
	double even = 0, odd = 0;

	for (; from + 1 < to; from += 2) {
		even += (double)from[0].share * ratios[from[0].block - first];
		odd += (double)from[1].share * ratios[from[1].block - first];
	}
	if (from < to)
		even += (double)from->share * ratios[from->block - first];
	return even + odd;
}

static void rate_blocks(const LodeCostModel *self, size_t part, uint32_t first, uint32_t end)
{
	const double *sizes = self->seen->block_sizes;
	LodeRatedBlock *blocks = self->blocks;
	double rates[PART];

	for (uint32_t b = first; b < end; b++)
		rates[b - first] = self->base * sizes[b];
	for (guint j = 0; j < self->terms->len; j++) {
		const LodeCostTerm *term = lode_cost_model_term(self, j);
		const size_t *starts = starts_of(self, j, part);
		add_blocks(term->blocks + starts[0], term->blocks + starts[1], term->beta, rates,
			first);
	}
	for (uint32_t b = first; b < end; b++)
		blocks[b].rate = rates[b - first];
}

static double blocks_likelihood(const LodeCostModel *self, uint32_t first, uint32_t end)
{
	double rates[PART];

	for (uint32_t b = first; b < end; b++)
		rates[b - first] = self->blocks[b].rate > DBL_MIN ? self->blocks[b].rate : DBL_MIN;
	return sum_logs(self->seen->block_samples + first, rates, end - first, 0, 1);
}

static void pass_blocks(const Pass *pass, size_t part)
{
	LodeCostModel *self = pass->model;
	double *sums = sums_of(self->part_sums, self, self->n_vertex_parts + part), ratios[PART];
	uint32_t first = (uint32_t)part * PART, end = MIN(first + PART, self->seen->n_blocks);

	part += self->n_vertex_parts + 1;
	if ((pass->makes & MAKES_RATES) != 0)
		rate_blocks(self, part, first, end);
	if ((pass->makes & MAKES_LIKELIHOOD) != 0)
		sums[LIKELIHOOD] = -blocks_likelihood(self, first, end);
	if ((pass->makes & MAKES_SUMS) == 0)
		return;
	for (uint32_t b = first; b < end; b++)
		ratios[b - first] = self->blocks[b].samples / self->blocks[b].rate;
	for (guint j = 0; j < self->terms->len; j++) {
		const LodeFocusBlock *blocks = lode_cost_model_term(self, j)->blocks;
		const size_t *starts = starts_of(self, j, part);
		sums[N_OWN_SUMS + j] = sum_blocks(
			blocks + starts[0], blocks + starts[1], ratios, first);
	}
}

static void pass_part(size_t task, unsigned worker, void *data)
{
	const Pass *pass = data;

	(void)worker;
	if (task < pass->model->n_vertex_parts)
		pass_vertices(pass, task);
	else
		pass_blocks(pass, task - pass->model->n_vertex_parts);
}

/* The numbers of vertices and blocks that a pass goes through. */
static size_t count_entries(const LodeCostModel *self)
{
	size_t n = (size_t)self->seen->n_sampled + self->seen->n_blocks;

	for (guint j = 0; j < self->terms->len; j++)
		n += lode_cost_model_term(self, j)->n_vertices +
		     lode_cost_model_term(self, j)->n_blocks;
	return n;
}

/* The parts are the same for any number of threads, and are added up in their order. In `sums`, the
 * terms' share of the vertices comes first, and then that of the blocks. */
static void make(LodeCostModel *self, unsigned makes)
{

	size_t n_parts = (size_t)self->n_vertex_parts + self->n_block_parts;
	size_t n_sums = N_OWN_SUMS + self->terms->len;
	Pass pass = {self, makes};

	g_array_set_size(self->part_sums, 0);
	g_array_set_size(self->part_sums, (guint)(n_parts * n_sums));
	lode_worker_crew_run(count_entries(self) < SHARED_ENTRIES ? NULL : self->crew, n_parts,
		pass_part, &pass);
	g_array_set_size(self->sums, 0);
	g_array_set_size(self->sums, (guint)(2 * n_sums));
	for (size_t part = 0; part < n_parts; part++) {
		const double *from = sums_of(self->part_sums, self, part);
		double *to = sums_of(self->sums, self, part < self->n_vertex_parts ? 0 : 1);
		for (size_t i = 0; i < n_sums; i++)
			to[i] += from[i];
	}
	const double *of_vertices = sums_of(self->sums, self, 0);
	const double *of_blocks = sums_of(self->sums, self, 1);
	self->ratio_sum = of_vertices[RATIO_SUM];
	self->likelihood = of_vertices[LIKELIHOOD] + of_blocks[LIKELIHOOD];
	if (self->seen->is_counted)
		self->likelihood -= expected_samples(self);
}

/* Both lists ascend. */
static void divide(LodeCostModel *self)
{
	g_array_set_size(self->part_starts, 0);
	for (guint j = 0; j < self->terms->len; j++) {
		const LodeCostTerm *term = lode_cost_model_term(self, j);
		for (uint32_t part = 0; part <= self->n_vertex_parts; part++) {
			size_t start = LODE_PARTITION_POINT(
				term->n_vertices, i, term->vertices[i].sampled < part * PART);
			g_array_append_val(self->part_starts, start);
		}
		for (uint32_t part = 0; part <= self->n_block_parts; part++) {
			size_t start = LODE_PARTITION_POINT(
				term->n_blocks, i, term->blocks[i].block < part * PART);
			g_array_append_val(self->part_starts, start);
		}
	}
}

/* --- the model --- */

/* Σ λ s, or Σ n s: what the term's samples would be at β = 1. */
static double exposure(const LodeCostModel *self, const LodeCostTerm *term)
{
	const LodeObservations *seen = self->seen;
	double sum = 0;

	if (seen->is_counted)
		return term->executions;
	for (size_t i = 0; i < term->n_blocks; i++) {
		const LodeRatedBlock *block = &self->blocks[term->blocks[i].block];
		sum += block->samples * (double)term->blocks[i].share / block->rate;
	}
	return sum;
}

void lode_cost_model_init(LodeCostModel *self, const LodeObservations *observations)
{
	const LodeObservations *seen = observations;
	uint32_t n_blocks = seen->is_counted ? 0 : seen->n_blocks;

	*self = (LodeCostModel){
		.seen = seen,
		.terms = g_array_new(FALSE, FALSE, sizeof(LodeCostTerm)),
		.base = 1,
		.rates = g_new(double, seen->n_sampled + 1),
		.vertices = g_new(LodeRatedVertex, seen->n_sampled + 1),
		.blocks = g_new(LodeRatedBlock, n_blocks + 1),
		.n_vertex_parts = (seen->n_sampled + PART - 1) / PART,
		.n_block_parts = (n_blocks + PART - 1) / PART,
		.part_starts = g_array_new(FALSE, FALSE, sizeof(size_t)),
		.part_sums = g_array_new(FALSE, TRUE, sizeof(double)),
		.sums = g_array_new(FALSE, TRUE, sizeof(double)),
	};
	for (uint32_t k = 0; k < seen->n_sampled; k++) {
		self->vertices[k].samples = seen->sampled_samples[k];
		self->all_samples += seen->sampled_samples[k];
	}
	for (uint32_t b = 0; b < seen->n_blocks; b++)
		self->all_executions += seen->block_sizes[b];
	for (uint32_t b = 0; b < n_blocks; b++)
		self->blocks[b].samples = seen->block_samples[b];
	if (seen->is_counted)
		self->base = self->all_executions > 0 ? self->all_samples / self->all_executions
		                                      : 0;
	make(self, MAKES_RATES);
}

void lode_cost_model_clear(LodeCostModel *self)
{
	g_clear_pointer(&self->terms, g_array_unref);
	g_clear_pointer(&self->rates, g_free);
	g_clear_pointer(&self->vertices, g_free);
	g_clear_pointer(&self->blocks, g_free);
	g_clear_pointer(&self->part_starts, g_array_unref);
	g_clear_pointer(&self->part_sums, g_array_unref);
	g_clear_pointer(&self->sums, g_array_unref);
}

/* --- one more term --- */

/* A term beside the model: of each vertex and of each block its samples and s / r, in rows. */
typedef struct {
	const double *samples, *shares;
	size_t n;
} Side;

typedef struct {
	Side vertices, blocks;
	double executions; /* where counted, else 0 */
} Trial;

void lode_gain_scratch_clear(LodeGainScratch *self)
{
	g_clear_pointer(&self->values, g_free);
	self->room = 0;
}

static Trial try_term(const LodeCostModel *self, const LodeCostTerm *term, LodeGainScratch *scratch)
{
	size_t n = term->n_vertices, n_blocks = term->n_blocks;

	if (2 * (n + n_blocks) > scratch->room) {
		scratch->room = 4 * (n + n_blocks);
		g_free(scratch->values);
		scratch->values = g_new(double, scratch->room);
	}
	double *samples = scratch->values, *shares = samples + n;
	for (size_t i = 0; i < n; i++) {
		const LodeRatedVertex *rated = &self->vertices[term->vertices[i].sampled];
		samples[i] = rated->samples;
		shares[i] = rated->inverse * (double)term->vertices[i].share;
	}
	double *block_samples = shares + n, *block_shares = block_samples + n_blocks;
	for (size_t i = 0; i < n_blocks; i++) {
		const LodeRatedBlock *rated = &self->blocks[term->blocks[i].block];
		block_samples[i] = rated->samples;
		block_shares[i] = (double)term->blocks[i].share / rated->rate;
	}
	return (Trial){{samples, shares, n}, {block_samples, block_shares, n_blocks},
		self->seen->is_counted ? term->executions : 0};
}

/* The first derivative of Σ y log(1 + β a), and the second one's opposite. */
typedef struct {
	double slope, fall;
} Slope;

static Slope side_slope(const Side *side, double beta)
{
	double slope[LANES] = {0}, fall[LANES] = {0};
	size_t i = 0;

	for (; i + LANES <= side->n; i += LANES)
		for (size_t k = 0; k < LANES; k++) {
			double part = side->shares[i + k] / (1 + beta * side->shares[i + k]);
			double weighted = side->samples[i + k] * part;
			slope[k] += weighted;
			fall[k] += weighted * part;
		}
	for (size_t k = 0; i + k < side->n; k++) {
		double part = side->shares[i + k] / (1 + beta * side->shares[i + k]);
		double weighted = side->samples[i + k] * part;
		slope[k] += weighted;
		fall[k] += weighted * part;
	}
	return (Slope){add_lanes(slope), add_lanes(fall)};
}

/* The growth of the log-likelihood by one more term at β: its slope, by how much the slope falls
 * with β, and by how much that of the concave part falls, so that a step of slope / concave_fall
 * does not overshoot. */
typedef struct {
	double slope, fall, concave_fall;
} Growth;

static Growth grow(const Trial *self, double beta)
{
	Slope vertices = side_slope(&self->vertices, beta);
	Slope blocks = side_slope(&self->blocks, beta);

	return (Growth){vertices.slope - blocks.slope - self->executions,
		vertices.fall - blocks.fall, vertices.fall};
}

/* By how much the log-likelihood grows with the term at β. */
static double growth_at(const Trial *self, double beta)
{
	const Side *vertices = &self->vertices, *blocks = &self->blocks;

	return sum_logs(vertices->samples, vertices->shares, vertices->n, 1, beta) -
	       sum_logs(blocks->samples, blocks->shares, blocks->n, 1, beta) -
	       beta * self->executions;
}

/* Newton's steps, where they are not much longer than what is certain not to overshoot. */
double lode_cost_model_gain(
	const LodeCostModel *self, const LodeCostTerm *term, double *beta, LodeGainScratch *scratch)
{
	const Trial trial = try_term(self, term, scratch);
	double at = *beta;

	for (int step = 0; step < MAX_GAIN_STEPS; step++) {

		Growth growth = grow(&trial, at);
		double way = growth.slope / growth.concave_fall;
		if (!(growth.concave_fall > 0) || !isfinite(at + way) ||
			(at + way <= 0 && at <= 0)) {
			at = 0;
			break;
		}
		if (growth.fall * MAX_STRETCH > growth.concave_fall)
			way = growth.slope / growth.fall;
		/* Where the slope at 0 falls, a search that began there would end there. */
		if (at + way <= 0 && !(grow(&trial, 0).slope > 0)) {
			at = 0;
			break;
		}
		/* From above the step may go too far. */
		double next = fmax(at + way, at / 4);
		bool is_close = fabs(next - at) <= 1e-2 * next;
		at = next;
		if (is_close)
			break;
	}
	double gain = at > 0 ? growth_at(&trial, at) : 0;
	*beta = gain > 0 && isfinite(gain) ? at : 0;
	return *beta > 0 ? gain : 0;
}

double lode_cost_model_likelihood(LodeCostModel *self)
{
	make(self, MAKES_LIKELIHOOD);
	return self->likelihood;
}

/* --- fitting --- */

static double *beta_of(LodeCostModel *self, guint index)
{
	return index == 0 ? &self->base : &lode_cost_model_term(self, index - 1)->beta;
}

/* Where a fit is: the logarithms of base and all β, by how much an EM step from there would change
 * them, and the samples that each explains. */
typedef struct {
	double *logs, *steps, *weights;
} Position;

/* From the sums of the last pass. The largest relative change of terms that explain something: a
 * term that goes to 0 shrinks by the same factor in each step, and does not matter. */
static double find_em_step(LodeCostModel *self, Position *out)
{
	const double *explained = sums_of(self->sums, self, 0) + N_OWN_SUMS;
	const double *exposed = sums_of(self->sums, self, 1) + N_OWN_SUMS;
	bool is_counted = self->seen->is_counted;
	double change = 0;

	for (guint j = 0; j <= self->terms->len; j++) {
		double *beta = beta_of(self, j), factor = 1, weight = 0;
		if (j > 0) {
			double expected = is_counted ? lode_cost_model_term(self, j - 1)->executions
			                             : exposed[j - 1];
			factor = expected > 0 ? explained[j - 1] / expected : 0;
			weight = *beta * explained[j - 1];
		} else if (is_counted && self->all_executions > 0) {
			factor = self->ratio_sum / self->all_executions;
			weight = *beta * self->ratio_sum;
		}
		if (!isfinite(*beta * factor) || *beta * factor <= 0)
			*beta = 0;
		bool is_there = *beta > 0;
		out->logs[j] = is_there ? log(*beta) : 0;
		out->steps[j] = is_there ? log(factor) : 0;
		out->weights[j] = is_there ? weight : 0;
		if (weight > NEGLIGIBLE_SHARE * self->all_samples)
			change = fmax(change, fabs(factor - 1));
	}
	return change;
}

/* Sets base and all β from their logarithms; values of 0 stay 0. */
static void set_parameters(LodeCostModel *self, const double *logs, unsigned makes)
{
	for (guint j = 0; j <= self->terms->len; j++)
		if (*beta_of(self, j) > 0)
			*beta_of(self, j) = exp(logs[j]);
	make(self, makes);
}

/* Solves n equations by elimination with pivots on the diagonal of a positive matrix. */
static void solve(double matrix[][MEMORY], double *values, size_t n)
{
	for (size_t p = 0; p < n; p++)
		for (size_t i = 0; i < n; i++) {
			double factor = i != p && matrix[p][p] > 0 ? matrix[i][p] / matrix[p][p]
			                                           : 0;
			for (size_t j = 0; j < n; j++)
				matrix[i][j] -= factor * matrix[p][j];
			values[i] -= factor * values[p];
		}
	for (size_t p = 0; p < n; p++)
		values[p] = matrix[p][p] > 0 ? values[p] / matrix[p][p] : 0;
}

/*
 * Where the last positions seem to lead: from that combination of them at which the steps, taken as
 * linear, would be least (D. G. Anderson 1965; for EM: N. C. Henderson, R. Varadhan, "Damped
 * Anderson acceleration with restarts and monotonicity control", 2019). `past` are n positions
 * before `here`.
 */
static void combine(
	const Position *here, const Position *past, size_t n, guint n_betas, double *out_logs)
{
	double matrix[MEMORY][MEMORY] = {{0}}, shares[MEMORY] = {0};

	for (guint j = 0; j < n_betas; j++)
		for (size_t a = 0; a < n; a++) {
			double turn = here->weights[j] * (here->steps[j] - past[a].steps[j]);
			shares[a] += turn * here->steps[j];
			for (size_t b = 0; b < n; b++)
				matrix[a][b] += turn * (here->steps[j] - past[b].steps[j]);
		}
	for (size_t a = 0; a < n; a++)
		matrix[a][a] *= 1 + DAMPING;
	solve(matrix, shares, n);
	for (guint j = 0; j < n_betas; j++) {
		double way = here->steps[j];
		for (size_t a = 0; a < n; a++)
			way -= shares[a] * (here->logs[j] + here->steps[j] - past[a].logs[j] -
						   past[a].steps[j]);
		out_logs[j] = here->logs[j] + CLAMP(way, -MAX_WAY, MAX_WAY);
	}
}

/* Moves the last `limit` of n positions to the front, and gives how many there are now. */
static size_t keep_positions(Position *positions, size_t n, size_t limit)
{
	for (; n > limit; n--) {
		Position first = positions[0];
		memmove(positions, positions + 1, sizeof(Position) * MEMORY);
		positions[MEMORY] = first;
	}
	return n;
}

void lode_cost_model_fit(LodeCostModel *self, double tolerance, unsigned max_steps)
{
	guint n = self->terms->len + 1;
	g_autofree double *scratch = g_new0(double, ((MEMORY + 1) * 3 + 1) * (size_t)n);
	double *next = scratch + (MEMORY + 1) * 3 * (size_t)n;
	Position positions[MEMORY + 1];
	size_t n_past = 0;

	for (size_t i = 0; i <= MEMORY; i++)
		positions[i] = (Position){
			scratch + 3 * i * n, scratch + (3 * i + 1) * n, scratch + (3 * i + 2) * n};
	divide(self);
	make(self, max_steps > 0 ? MAKES_ALL : MAKES_RATES);
	for (unsigned i = 0; i < max_steps; i++) {
		Position *here = &positions[n_past];
		double change = find_em_step(self, here), before = self->likelihood;
		combine(here, positions, change > tolerance ? n_past : 0, n, next);
		set_parameters(self, next, change > tolerance ? MAKES_ALL : MAKES_RATES);
		if (change <= tolerance)
			return;
		bool is_worse = n_past > 0 && !(self->likelihood >= before);
		if (is_worse) {
			/* An EM step itself never loses. */
			for (guint j = 0; j < n; j++)
				next[j] = here->logs[j] + here->steps[j];
			set_parameters(self, next, MAKES_ALL);
		}
		n_past = keep_positions(positions, n_past + 1, is_worse ? 1 : MEMORY);
	}
}

void lode_cost_model_add(LodeCostModel *self, const LodeCostTerm *term)
{
	g_array_append_val(self->terms, *term);
}

void lode_cost_model_remove(LodeCostModel *self, size_t index)
{
	g_array_remove_index(self->terms, (guint)index);
}

double lode_cost_model_explained(const LodeCostModel *self, size_t index)
{
	const LodeCostTerm *term = lode_cost_model_term(self, index);

	return term->beta * exposure(self, term);
}

double lode_cost_model_ratio(const LodeCostModel *self, size_t index)
{
	const LodeObservations *seen = self->seen;
	const LodeCostTerm *term = lode_cost_model_term(self, index);
	double executions = 0, average = 0;

	for (size_t i = 0; i < term->n_blocks; i++) {
		uint32_t block = term->blocks[i].block;
		double rate = self->blocks[block].rate;
		/* λ Σ s executions here, of an average of Σ r / size. */
		double here = seen->block_samples[block] * (double)term->blocks[i].share / rate;
		executions += here;
		average += here * rate / seen->block_sizes[block];
	}
	return average > 0 ? term->beta * executions / average : 0;
}

LodeExposure lode_cost_model_exposure(const LodeCostModel *self, size_t index)
{
	const LodeObservations *seen = self->seen;
	const LodeCostTerm *term = lode_cost_model_term(self, index);
	double samples = 0, variance = 0;

	if (seen->is_counted)
		return (LodeExposure){term->executions, 0};
	for (size_t i = 0; i < term->n_blocks; i++) {
		uint32_t block = term->blocks[i].block;
		double part = (double)term->blocks[i].share / seen->block_sizes[block];
		samples += seen->block_samples[block] * part;
		variance += seen->block_samples[block] * part * part;
	}
	return (LodeExposure){samples, sqrt(variance)};
}

/*
 * Pearson's χ² by its degrees of freedom, over 1 + the mean of (y − μ) / μ (Fletcher 2012): one
 * sample on code that executed once, where 10⁻⁶ are expected, would else outweigh all others.
 * Vertices without samples add the samples expected there to χ²; to the mean each adds −1.
 */
double lode_cost_model_dispersion(const LodeCostModel *self)
{
	const LodeObservations *seen = self->seen;
	double sum = 0, elsewhere = 0, freedom = -(double)self->terms->len, sparse = 0;
	double n = seen->is_counted && !(self->base > 0) ? seen->n_sampled : seen->n;

	if (seen->is_counted) {
		elsewhere = expected_samples(self);
		freedom += n;
	} else {
		for (uint32_t b = 0; b < seen->n_blocks; b++)
			elsewhere += seen->block_samples[b];
		/* Each block's λ is fitted too. */
		freedom += n - seen->n_blocks;
	}
	for (uint32_t k = 0; k < seen->n_sampled; k++) {
		uint32_t u = seen->sampled[k], block = seen->blocks[u];
		double mean = seen->is_counted ? seen->executions[u] * self->rates[k]
		                               : seen->block_samples[block] * self->rates[k] /
		                                         self->blocks[block].rate;
		double more = seen->sampled_samples[k] - mean;
		if (!(mean > 0))
			continue;
		sum += more * more / mean;
		sparse += seen->sampled_samples[k] / mean / n;
		elsewhere -= mean;
	}
	double dispersion = freedom > 0 ? (sum + fmax(elsewhere, 0)) / freedom / sparse : 1;
	return isfinite(dispersion) ? fmax(dispersion, 1) : 1;
}

/* Inverts a symmetric positive matrix of n rows in place by Gauss-Jordan with pivots on the
 * diagonal. A row without information stays out: its variance is unknown, and given as 0. */
static void invert(double *matrix, size_t n)
{
	for (size_t p = 0; p < n; p++) {
		double pivot = matrix[p * n + p];
		bool is_usable = pivot > 0 && isfinite(1 / pivot);
		for (size_t i = 0; i < n; i++) {
			if (i == p)
				continue;
			double factor = is_usable ? matrix[i * n + p] / pivot : 0;
			for (size_t j = 0; j < n; j++)
				if (j != p)
					matrix[i * n + j] -= factor * matrix[p * n + j];
			matrix[i * n + p] = -factor;
		}
		for (size_t j = 0; j < n; j++)
			if (j != p)
				matrix[p * n + j] = is_usable ? matrix[p * n + j] / pivot : 0;
		matrix[p * n + p] = is_usable ? 1 / pivot : 0;
	}
}

/* The information, later the covariance: row 0 is the base, where there is one to fit; then the
 * terms. */
typedef struct {
	const LodeCostModel *model;
	double *matrix;
	size_t n, n_base;
	LodeCostError *errors; /* of the terms */
} Errors;

/* A row from the diagonal on, and the column below. */
static void inform_row(size_t j, unsigned worker, void *data)
{
	const Errors *work = data;
	const LodeCostModel *self = work->model;
	const LodeObservations *seen = self->seen;
	double *matrix = work->matrix;
	size_t n = work->n, n_base = work->n_base;
	g_autofree double *dense = g_new0(double, seen->n_sampled + 1);
	g_autofree double *blocks = g_new0(double, seen->n_blocks + 1);
	const LodeCostTerm *own = j < n_base ? NULL : lode_cost_model_term(self, j - n_base);

	(void)worker;
	/* y s / r² and y_B s / R²: what is left is Σ of these times the other's s. */
	for (uint32_t k = 0; own == NULL && k < seen->n_sampled; k++) {
		dense[k] = seen->sampled_samples[k] * self->vertices[k].inverse *
		           self->vertices[k].inverse;
		matrix[0] += dense[k];
	}
	for (size_t i = 0; own != NULL && i < own->n_vertices; i++) {
		uint32_t k = own->vertices[i].sampled;
		dense[k] += seen->sampled_samples[k] * (double)own->vertices[i].share *
		            self->vertices[k].inverse * self->vertices[k].inverse;
	}
	for (size_t i = 0; own != NULL && i < own->n_blocks; i++) {
		uint32_t block = own->blocks[i].block;
		blocks[block] += seen->block_samples[block] * (double)own->blocks[i].share /
		                 (self->blocks[block].rate * self->blocks[block].rate);
	}
	for (size_t k = MAX(j, n_base); k < n; k++) {
		const LodeCostTerm *term = lode_cost_model_term(self, k - n_base);
		double sum = 0;
		for (size_t i = 0; i < term->n_vertices; i++)
			sum += dense[term->vertices[i].sampled] * (double)term->vertices[i].share;
		for (size_t i = 0; i < term->n_blocks; i++)
			sum -= blocks[term->blocks[i].block] * (double)term->blocks[i].share;
		matrix[j * n + k] = matrix[k * n + j] = sum;
	}
}

/*
 * Where executions were not counted, the samples that a term explains depend on all β through the
 * blocks' λ, and on the chance in how many samples a block has.
 */
static double explained_error(
	const LodeCostModel *self, size_t index, const double *covariance, size_t n)
{
	const LodeObservations *seen = self->seen;
	const LodeCostTerm *term = lode_cost_model_term(self, index);
	g_autofree double *parts = g_new0(double, seen->n_blocks + 1);
	g_autofree double *gradient = g_new0(double, n + 1);
	double variance = 0;

	for (size_t i = 0; i < term->n_blocks; i++) {
		uint32_t block = term->blocks[i].block;
		double samples = seen->block_samples[block];
		double part = (double)term->blocks[i].share / self->blocks[block].rate;
		parts[block] = samples * term->beta * part / self->blocks[block].rate;
		gradient[index] += samples * part;
		variance += samples * term->beta * part * term->beta * part;
	}
	for (size_t k = 0; k < n; k++) {
		const LodeCostTerm *other = lode_cost_model_term(self, k);
		for (size_t i = 0; i < other->n_blocks; i++)
			gradient[k] -= parts[other->blocks[i].block] *
			               (double)other->blocks[i].share;
	}
	for (size_t j = 0; j < n; j++)
		for (size_t k = 0; k < n; k++)
			variance += gradient[j] * covariance[j * n + k] * gradient[k];
	return sqrt(fmax(variance, 0));
}

static void find_error(size_t index, unsigned worker, void *data)
{
	const Errors *work = data;
	const LodeCostModel *self = work->model;
	size_t row = index + work->n_base;
	double beta = sqrt(fmax(work->matrix[row * work->n + row], 0));

	(void)worker;
	work->errors[index].beta = beta;
	work->errors[index].explained =
		self->seen->is_counted ? beta * lode_cost_model_term(self, index)->executions
				       : explained_error(self, index, work->matrix, work->n);
}

LodeCostError *lode_cost_model_errors(const LodeCostModel *self)
{
	size_t n_base = self->seen->is_counted && self->base > 0 ? 1 : 0;
	size_t n = self->terms->len + n_base;
	g_autofree double *matrix = g_new0(double, n *n + 1);
	LodeCostError *errors = g_new0(LodeCostError, self->terms->len + 1);
	Errors work = {self, matrix, n, n_base, errors};

	lode_worker_crew_run(self->crew, n, inform_row, &work);
	invert(matrix, n);
	lode_worker_crew_run(self->crew, self->terms->len, find_error, &work);
	return errors;
}
