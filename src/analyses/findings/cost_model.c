/* SPDX-License-Identifier: MIT */
#include "analyses/findings/cost_model.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_GAIN_STEPS = 40 };

/* A term that explains less than this share of the samples is not waited for. */
#define NEGLIGIBLE_SHARE 1e-6

/* How far an extrapolation may lead, in logarithms of β. */
#define MAX_WAY 20.0

/* Σ n(u). */
static double all_executions(const LodeObservations *seen)
{
	double executions = 0;

	for (uint32_t b = 0; b < seen->n_blocks; b++)
		executions += seen->block_sizes[b];
	return executions;
}

/* Σ n(u) r(u), where executions were counted. */
static double expected_samples(const LodeCostModel *self)
{
	double sum = self->base * all_executions(self->seen);

	for (guint j = 0; j < self->terms->len; j++)
		sum += lode_cost_model_term(self, j)->beta *
		       lode_cost_model_term(self, j)->executions;
	return sum;
}

/* r(u) from the terms. */
static void sum_rates(LodeCostModel *self)
{
	const LodeObservations *seen = self->seen;

	for (uint32_t k = 0; k < seen->n_sampled; k++)
		self->rates[k] = self->base;
	for (uint32_t b = 0; b < seen->n_blocks; b++)
		self->block_rates[b] = self->base * seen->block_sizes[b];
	for (guint j = 0; j < self->terms->len; j++) {
		const LodeCostTerm *term = lode_cost_model_term(self, j);
		double beta = term->beta;
		for (size_t i = 0; i < term->n_vertices; i++)
			self->rates[term->vertices[i].sampled] += beta *
			                                          (double)term->vertices[i].share;
		for (size_t i = 0; i < term->n_blocks; i++)
			self->block_rates[term->blocks[i].block] += beta *
			                                            (double)term->blocks[i].share;
	}
	for (uint32_t k = 0; k < seen->n_sampled; k++)
		self->inverses[k] = self->rates[k] > 0 ? 1 / self->rates[k] : 0;
}

/* Σ λ s, or Σ n s: what the term's samples would be at β = 1. */
static double exposure(const LodeCostModel *self, const LodeCostTerm *term)
{
	const LodeObservations *seen = self->seen;
	double sum = 0;

	if (seen->is_counted)
		return term->executions;
	for (size_t i = 0; i < term->n_blocks; i++) {
		uint32_t block = term->blocks[i].block;
		sum += seen->block_samples[block] * (double)term->blocks[i].share /
		       self->block_rates[block];
	}
	return sum;
}

void lode_cost_model_init(LodeCostModel *self, const LodeObservations *observations)
{
	double samples = 0, executions = 0;

	*self = (LodeCostModel){
		.seen = observations,
		.terms = g_array_new(FALSE, FALSE, sizeof(LodeCostTerm)),
		.base = 1,
		.rates = g_new(double, observations->n_sampled + 1),
		.inverses = g_new(double, observations->n_sampled + 1),
		.block_rates = g_new0(double, observations->n_blocks + 1),
	};
	for (uint32_t b = 0; b < observations->n_blocks; b++) {
		samples += observations->block_samples[b];
		executions += observations->block_sizes[b];
	}
	if (observations->is_counted)
		self->base = executions > 0 ? samples / executions : 0;
	sum_rates(self);
}

void lode_cost_model_clear(LodeCostModel *self)
{
	g_clear_pointer(&self->terms, g_array_unref);
	g_clear_pointer(&self->rates, g_free);
	g_clear_pointer(&self->inverses, g_free);
	g_clear_pointer(&self->block_rates, g_free);
}

/* Of one more term at β: the slope of the log-likelihood's growth, and the curvature of its concave
 * part, so that a step of slope / curvature does not overshoot. */
typedef struct {
	double slope, curvature;
} Growth;

static Growth grow(const LodeCostModel *self, const LodeCostTerm *term, double beta)
{
	const LodeObservations *seen = self->seen;
	Growth out = {0};

	for (size_t i = 0; i < term->n_vertices; i++) {
		uint32_t k = term->vertices[i].sampled;
		double a = (double)term->vertices[i].share * self->inverses[k];
		double part = a / (1 + beta * a), weighted = seen->sampled_samples[k] * part;
		out.slope += weighted;
		out.curvature += weighted * part;
	}
	if (seen->is_counted)
		out.slope -= term->executions;
	for (size_t i = 0; i < term->n_blocks; i++) {
		uint32_t block = term->blocks[i].block;
		double share = (double)term->blocks[i].share;
		out.slope -= seen->block_samples[block] * share /
		             (self->block_rates[block] + beta * share);
	}
	return out;
}

/* By how much the log-likelihood grows with the term at β. */
static double growth_at(const LodeCostModel *self, const LodeCostTerm *term, double beta)
{
	const LodeObservations *seen = self->seen;
	double gain = seen->is_counted ? -beta * term->executions : 0;

	for (size_t i = 0; i < term->n_vertices; i++) {
		uint32_t k = term->vertices[i].sampled;
		gain += seen->sampled_samples[k] *
		        log1p(beta * (double)term->vertices[i].share * self->inverses[k]);
	}
	for (size_t i = 0; i < term->n_blocks; i++) {
		uint32_t block = term->blocks[i].block;
		gain -= seen->block_samples[block] *
		        log1p(beta * (double)term->blocks[i].share / self->block_rates[block]);
	}
	return gain;
}

double lode_cost_model_gain(const LodeCostModel *self, const LodeCostTerm *term, double *beta)
{
	double at = *beta;

	for (int step = 0; step < MAX_GAIN_STEPS; step++) {
		Growth growth = grow(self, term, at);
		double next = at + growth.slope / growth.curvature;
		if (!(growth.curvature > 0) || !isfinite(next) || (next <= 0 && at <= 0)) {
			at = 0;
			break;
		}
		/* From above the step may go too far. */
		next = fmax(next, at / 4);
		bool is_close = fabs(next - at) <= 1e-2 * next;
		at = next;
		if (is_close)
			break;
	}
	double gain = at > 0 ? growth_at(self, term, at) : 0;
	*beta = gain > 0 && isfinite(gain) ? at : 0;
	return *beta > 0 ? gain : 0;
}

double lode_cost_model_likelihood(const LodeCostModel *self)
{
	const LodeObservations *seen = self->seen;
	double sum = 0;

	for (uint32_t k = 0; k < seen->n_sampled; k++)
		sum += seen->sampled_samples[k] * log(fmax(self->rates[k], DBL_MIN));
	if (seen->is_counted)
		return sum - expected_samples(self);
	for (uint32_t b = 0; b < seen->n_blocks; b++)
		sum -= seen->block_samples[b] * log(fmax(self->block_rates[b], DBL_MIN));
	return sum;
}

/* One EM step for all. The largest relative change of what explains something: a term that is on
 * its way to nothing shrinks by the same factor in each step, and matters to nobody. */
static double step(LodeCostModel *self)
{
	const LodeObservations *seen = self->seen;
	g_autofree double *ratios = g_new(double, seen->n_sampled + 1);
	double change = 0, executions = 0, sum = 0, samples = 0;

	for (uint32_t k = 0; k < seen->n_sampled; k++) {
		ratios[k] = seen->sampled_samples[k] * self->inverses[k];
		sum += ratios[k];
		samples += seen->sampled_samples[k];
	}
	for (guint j = 0; j < self->terms->len; j++) {
		LodeCostTerm *term = lode_cost_model_term(self, j);
		double expected = exposure(self, term), explained = 0;
		for (size_t i = 0; i < term->n_vertices; i++)
			explained += (double)term->vertices[i].share *
			             ratios[term->vertices[i].sampled];
		double factor = expected > 0 ? explained / expected : 0;
		if (term->beta * explained > NEGLIGIBLE_SHARE * samples)
			change = fmax(change, fabs(factor - 1));
		term->beta = isfinite(term->beta * factor) ? term->beta * factor : 0;
	}
	if (seen->is_counted && self->base > 0) {
		executions = all_executions(seen);
		double factor = executions > 0 ? sum / executions : 1;
		if (self->base * sum > NEGLIGIBLE_SHARE * samples)
			change = fmax(change, fabs(factor - 1));
		self->base *= factor;
	}
	sum_rates(self);
	return change;
}

/* The logarithms of base and all β, those of 0 as 0. */
static void take_logs(const LodeCostModel *self, double *out_logs)
{
	out_logs[0] = self->base > 0 ? log(self->base) : 0;
	for (guint j = 0; j < self->terms->len; j++) {
		double beta = lode_cost_model_term(self, j)->beta;
		out_logs[j + 1] = beta > 0 ? log(beta) : 0;
	}
}

static double *beta_of(LodeCostModel *self, guint index)
{
	return index == 0 ? &self->base : &lode_cost_model_term(self, index - 1)->beta;
}

/* Sets base and all β from their logarithms; what is 0 stays so. */
static void set_logs(LodeCostModel *self, const double *logs)
{
	for (guint j = 0; j <= self->terms->len; j++)
		if (*beta_of(self, j) > 0)
			*beta_of(self, j) = exp(logs[j]);
	sum_rates(self);
}

/*
 * From three positions in a row of EM steps to where they seem to lead, along the square of the
 * steps' operator; back to the last one where the likelihood would fall.
 */
static void extrapolate(LodeCostModel *self, double *const logs[3])
{
	double first = 0, second = 0;
	guint n = self->terms->len + 1;
	g_autofree double *far = g_new(double, n);

	for (guint j = 0; j < n; j++) {
		double step = logs[1][j] - logs[0][j], turn = logs[2][j] - logs[1][j] - step;
		first += step * step;
		second += turn * turn;
	}
	double length = sqrt(first / second);
	if (!isfinite(length) || length <= 1)
		return;
	for (guint j = 0; j < n; j++) {
		double step = logs[1][j] - logs[0][j], turn = logs[2][j] - logs[1][j] - step;
		double way = 2 * length * step + length * length * turn;
		far[j] = logs[0][j] + CLAMP(way, -MAX_WAY, MAX_WAY);
	}
	double before = lode_cost_model_likelihood(self);
	set_logs(self, far);
	if (!(lode_cost_model_likelihood(self) >= before))
		set_logs(self, logs[2]);
}

void lode_cost_model_fit(LodeCostModel *self, double tolerance, unsigned max_steps)
{
	size_t n = self->terms->len + 1;
	g_autofree double *scratch = g_new(double, 3 * n);
	double *const logs[3] = {scratch, scratch + n, scratch + 2 * n};

	sum_rates(self);
	for (unsigned i = 0; i < max_steps;) {
		for (int j = 0; j < 3; j++) {
			if (j > 0 && (i++ == max_steps || step(self) <= tolerance))
				return;
			take_logs(self, logs[j]);
		}
		extrapolate(self, logs);
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
		double rate = self->block_rates[block];
		/* λ Σ s executions here, of an average of Σ r / size. */
		double here = seen->block_samples[block] * (double)term->blocks[i].share / rate;
		executions += here;
		average += here * rate / seen->block_sizes[block];
	}
	return average > 0 ? term->beta * executions / average : 0;
}

/* Of Pearson's χ², what the vertices without samples add is what is expected there. */
double lode_cost_model_dispersion(const LodeCostModel *self)
{
	const LodeObservations *seen = self->seen;
	double sum = 0, elsewhere = 0, freedom = -(double)self->terms->len;

	if (seen->is_counted) {
		elsewhere = expected_samples(self);
		freedom += self->base > 0 ? seen->n : seen->n_sampled;
	} else {
		for (uint32_t b = 0; b < seen->n_blocks; b++)
			elsewhere += seen->block_samples[b];
		/* Each block's λ is fitted too. */
		freedom += (double)seen->n - seen->n_blocks;
	}
	for (uint32_t k = 0; k < seen->n_sampled; k++) {
		uint32_t u = seen->sampled[k], block = seen->blocks[u];
		double mean = seen->is_counted ? seen->executions[u] * self->rates[k]
		                               : seen->block_samples[block] * self->rates[k] /
		                                         self->block_rates[block];
		double more = seen->sampled_samples[k] - mean;
		if (!(mean > 0))
			continue;
		sum += more * more / mean;
		elsewhere -= mean;
	}
	double dispersion = freedom > 0 ? (sum + fmax(elsewhere, 0)) / freedom : 1;
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

/* Row 0 is the base, where there is one to fit; then the terms. */
static double *information(const LodeCostModel *self, size_t n, size_t n_base)
{
	const LodeObservations *seen = self->seen;
	double *matrix = g_new0(double, n *n + 1);
	g_autofree double *dense = g_new(double, seen->n_sampled + 1);
	g_autofree double *blocks = g_new(double, seen->n_blocks + 1);

	for (size_t j = 0; j < n; j++) {
		const LodeCostTerm *own = j < n_base ? NULL
		                                     : lode_cost_model_term(self, j - n_base);
		/* y s / r² and y_B s / R²: what is left is Σ of these times the other's s. */
		memset(dense, 0, sizeof(double) * seen->n_sampled);
		memset(blocks, 0, sizeof(double) * seen->n_blocks);
		for (uint32_t k = 0; own == NULL && k < seen->n_sampled; k++) {
			dense[k] = seen->sampled_samples[k] * self->inverses[k] * self->inverses[k];
			matrix[0] += dense[k];
		}
		for (size_t i = 0; own != NULL && i < own->n_vertices; i++) {
			uint32_t k = own->vertices[i].sampled;
			dense[k] += seen->sampled_samples[k] * (double)own->vertices[i].share *
			            self->inverses[k] * self->inverses[k];
		}
		for (size_t i = 0; own != NULL && i < own->n_blocks; i++) {
			uint32_t block = own->blocks[i].block;
			blocks[block] += seen->block_samples[block] * (double)own->blocks[i].share /
			                 (self->block_rates[block] * self->block_rates[block]);
		}
		for (size_t k = MAX(j, n_base); k < n; k++) {
			const LodeCostTerm *term = lode_cost_model_term(self, k - n_base);
			double sum = 0;
			for (size_t i = 0; i < term->n_vertices; i++)
				sum += dense[term->vertices[i].sampled] *
				       (double)term->vertices[i].share;
			for (size_t i = 0; i < term->n_blocks; i++)
				sum -= blocks[term->blocks[i].block] *
				       (double)term->blocks[i].share;
			matrix[j * n + k] = matrix[k * n + j] = sum;
		}
	}
	return matrix;
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
		double part = (double)term->blocks[i].share / self->block_rates[block];
		parts[block] = samples * term->beta * part / self->block_rates[block];
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

LodeCostError *lode_cost_model_errors(const LodeCostModel *self)
{
	size_t n_base = self->seen->is_counted && self->base > 0 ? 1 : 0;
	size_t n = self->terms->len + n_base;
	g_autofree double *covariance = information(self, n, n_base);
	LodeCostError *errors = g_new0(LodeCostError, self->terms->len + 1);

	invert(covariance, n);
	for (guint j = 0; j < self->terms->len; j++) {
		size_t row = j + n_base;
		double beta = sqrt(fmax(covariance[row * n + row], 0));
		errors[j].beta = beta;
		errors[j].explained = self->seen->is_counted
		                              ? beta * lode_cost_model_term(self, j)->executions
		                              : explained_error(self, j, covariance, n);
	}
	return errors;
}
