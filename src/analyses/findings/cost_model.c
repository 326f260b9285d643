/* SPDX-License-Identifier: MIT */
#include "analyses/findings/cost_model.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_GAIN_STEPS = 40 };

void lode_cost_model_init(LodeCostModel *self, const LodeObservations *observations)
{
	double samples = 0, executions = 0;

	*self = (LodeCostModel){
		.seen = observations,
		.terms = g_array_new(FALSE, FALSE, sizeof(LodeCostTerm)),
		.base = 1,
		.rates = g_new(double, observations->n + 1),
		.block_rates = g_new0(double, observations->n_blocks + 1),
	};
	for (uint32_t b = 0; b < observations->n_blocks; b++) {
		samples += observations->block_samples[b];
		executions += observations->block_sizes[b];
		self->block_rates[b] = observations->block_sizes[b];
	}
	if (observations->is_counted)
		self->base = executions > 0 ? samples / executions : 0;
	for (uint32_t u = 0; u < observations->n; u++)
		self->rates[u] = self->base;
}

void lode_cost_model_clear(LodeCostModel *self)
{
	g_clear_pointer(&self->terms, g_array_unref);
	g_clear_pointer(&self->rates, g_free);
	g_clear_pointer(&self->block_rates, g_free);
}

/* Σ s of the term over the vertices of the block that its vertex `*i` is in; *i then is past them.
 */
static double sum_block(const LodeCostModel *self, const LodeCostTerm *term, size_t *i)
{
	const uint32_t *blocks = self->seen->blocks;
	uint32_t block = blocks[term->vertices[*i].vertex];
	double sum = 0;

	for (; *i < term->n && blocks[term->vertices[*i].vertex] == block; (*i)++)
		sum += (double)term->vertices[*i].share;
	return sum;
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

	for (size_t i = 0; i < term->n; i++) {
		uint32_t u = term->vertices[i].vertex;
		double y = seen->samples[u];
		if (y == 0 || self->rates[u] <= 0)
			continue;
		double a = (double)term->vertices[i].share / self->rates[u];
		double part = a / (1 + beta * a);
		out.slope += y * part;
		out.curvature += y * part * part;
	}
	if (seen->is_counted) {
		out.slope -= term->executions;
		return out;
	}
	for (size_t i = 0; i < term->n;) {
		uint32_t block = seen->blocks[term->vertices[i].vertex];
		double c = sum_block(self, term, &i) / self->block_rates[block];
		out.slope -= seen->block_samples[block] * c / (1 + beta * c);
	}
	return out;
}

/* By how much the log-likelihood grows with the term at β. */
static double growth_at(const LodeCostModel *self, const LodeCostTerm *term, double beta)
{
	const LodeObservations *seen = self->seen;
	double gain = 0;

	for (size_t i = 0; i < term->n; i++) {
		uint32_t u = term->vertices[i].vertex;
		double y = seen->samples[u];
		if (y > 0 && self->rates[u] > 0)
			gain += y * log1p(beta * (double)term->vertices[i].share / self->rates[u]);
	}
	if (seen->is_counted)
		return gain - beta * term->executions;
	for (size_t i = 0; i < term->n;) {
		uint32_t block = seen->blocks[term->vertices[i].vertex];
		double c = sum_block(self, term, &i) / self->block_rates[block];
		gain -= seen->block_samples[block] * log1p(beta * c);
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

	for (uint32_t u = 0; u < seen->n; u++) {
		double y = seen->samples[u];
		if (y > 0)
			sum += y * log(fmax(self->rates[u], DBL_MIN));
		if (seen->is_counted)
			sum -= seen->executions[u] * self->rates[u];
	}
	for (uint32_t b = 0; !seen->is_counted && b < seen->n_blocks; b++)
		sum -= seen->block_samples[b] * log(fmax(self->block_rates[b], DBL_MIN));
	return sum;
}

/* r(u) from the terms. */
static void sum_rates(LodeCostModel *self)
{
	const LodeObservations *seen = self->seen;

	for (uint32_t u = 0; u < seen->n; u++)
		self->rates[u] = self->base;
	for (guint j = 0; j < self->terms->len; j++) {
		const LodeCostTerm *term = lode_cost_model_term(self, j);
		for (size_t i = 0; i < term->n; i++)
			self->rates[term->vertices[i].vertex] += term->beta *
			                                         (double)term->vertices[i].share;
	}
	if (seen->is_counted)
		return;
	memset(self->block_rates, 0, sizeof(double) * seen->n_blocks);
	for (uint32_t u = 0; u < seen->n; u++)
		self->block_rates[seen->blocks[u]] += self->rates[u];
}

/* Σ λ s, or Σ n s: what the term's samples would be at β = 1. */
static double exposure(const LodeCostModel *self, const LodeCostTerm *term)
{
	const LodeObservations *seen = self->seen;
	double sum = 0;

	if (seen->is_counted)
		return term->executions;
	for (size_t i = 0; i < term->n;) {
		uint32_t block = seen->blocks[term->vertices[i].vertex];
		double part = sum_block(self, term, &i);
		sum += seen->block_samples[block] * part / self->block_rates[block];
	}
	return sum;
}

/* One EM step for all; the largest relative change. */
static double step(LodeCostModel *self)
{
	const LodeObservations *seen = self->seen;
	double change = 0;

	if (seen->is_counted && self->base > 0) {
		double sum = 0, executions = 0;
		for (uint32_t u = 0; u < seen->n; u++) {
			executions += seen->executions[u];
			if (seen->samples[u] > 0 && self->rates[u] > 0)
				sum += seen->samples[u] / self->rates[u];
		}
		double factor = executions > 0 ? sum / executions : 1;
		change = fabs(factor - 1);
		self->base *= factor;
	}
	for (guint j = 0; j < self->terms->len; j++) {
		LodeCostTerm *term = lode_cost_model_term(self, j);
		double sum = 0, expected = exposure(self, term);
		for (size_t i = 0; i < term->n; i++) {
			uint32_t u = term->vertices[i].vertex;
			if (seen->samples[u] > 0 && self->rates[u] > 0)
				sum += seen->samples[u] * (double)term->vertices[i].share /
				       self->rates[u];
		}
		double factor = expected > 0 ? sum / expected : 0;
		change = fmax(change, fabs(factor - 1));
		term->beta = isfinite(term->beta * factor) ? term->beta * factor : 0;
	}
	sum_rates(self);
	return change;
}

void lode_cost_model_fit(LodeCostModel *self, double tolerance, unsigned max_steps)
{
	sum_rates(self);
	for (unsigned i = 0; i < max_steps; i++)
		if (step(self) <= tolerance)
			return;
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

	for (size_t i = 0; i < term->n;) {
		uint32_t block = seen->blocks[term->vertices[i].vertex];
		double rate = self->block_rates[block];
		/* λ Σ s executions here, of an average of Σ r / size. */
		double here = seen->block_samples[block] * sum_block(self, term, &i) / rate;
		executions += here;
		average += here * rate / seen->block_sizes[block];
	}
	return average > 0 ? term->beta * executions / average : 0;
}

double lode_cost_model_dispersion(const LodeCostModel *self)
{
	const LodeObservations *seen = self->seen;
	double sum = 0, freedom = -(double)self->terms->len;

	for (uint32_t u = 0; u < seen->n; u++) {
		uint32_t block = seen->blocks[u];
		double mean = seen->is_counted ? seen->executions[u] * self->rates[u]
		                               : seen->block_samples[block] * self->rates[u] /
		                                         self->block_rates[block];
		if (!(mean > 0))
			continue;
		sum += (seen->samples[u] - mean) * (seen->samples[u] - mean) / mean;
		freedom += 1;
	}
	/* Each block's λ is fitted too. */
	if (!seen->is_counted)
		freedom -= seen->n_blocks;
	double dispersion = freedom > 0 ? sum / freedom : 1;
	return isfinite(dispersion) ? fmax(dispersion, 1) : 1;
}

/* The shares of a term by vertex; `out` is all 0 before. */
static void spread_term(const LodeCostTerm *term, double *out)
{
	for (size_t i = 0; i < term->n; i++)
		out[term->vertices[i].vertex] += (double)term->vertices[i].share;
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
	g_autofree double *dense = g_new0(double, seen->n + 1);

	for (size_t j = 0; j < n; j++) {
		memset(dense, 0, sizeof(double) * seen->n);
		if (j < n_base)
			for (uint32_t u = 0; u < seen->n; u++)
				dense[u] = 1;
		else
			spread_term(lode_cost_model_term(self, j - n_base), dense);
		if (j < n_base)
			for (uint32_t u = 0; u < seen->n; u++)
				if (seen->samples[u] > 0 && self->rates[u] > 0)
					matrix[0] += seen->samples[u] /
					             (self->rates[u] * self->rates[u]);
		g_autofree double *blocks = g_new0(double, seen->n_blocks + 1);
		for (uint32_t u = 0; u < seen->n; u++)
			blocks[seen->blocks[u]] += dense[u];
		for (size_t k = MAX(j, n_base); k < n; k++) {
			const LodeCostTerm *term = lode_cost_model_term(self, k - n_base);
			double sum = 0;
			for (size_t i = 0; i < term->n; i++) {
				uint32_t u = term->vertices[i].vertex;
				if (seen->samples[u] > 0 && self->rates[u] > 0)
					sum += seen->samples[u] * dense[u] *
					       (double)term->vertices[i].share /
					       (self->rates[u] * self->rates[u]);
			}
			for (size_t i = 0; !seen->is_counted && i < term->n;) {
				uint32_t block = seen->blocks[term->vertices[i].vertex];
				double part = sum_block(self, term, &i);
				sum -= seen->block_samples[block] * part * blocks[block] /
				       (self->block_rates[block] * self->block_rates[block]);
			}
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

	for (size_t i = 0; i < term->n;) {
		uint32_t block = seen->blocks[term->vertices[i].vertex];
		double part = sum_block(self, term, &i) / self->block_rates[block];
		parts[block] = part;
		gradient[index] += seen->block_samples[block] * part;
		variance += seen->block_samples[block] * term->beta * part * term->beta * part;
	}
	for (size_t k = 0; k < n; k++) {
		const LodeCostTerm *other = lode_cost_model_term(self, k);
		for (size_t i = 0; i < other->n;) {
			uint32_t block = seen->blocks[other->vertices[i].vertex];
			double part = sum_block(self, other, &i) / self->block_rates[block];
			gradient[k] -= seen->block_samples[block] * term->beta * parts[block] *
			               part;
		}
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
