/* SPDX-License-Identifier: MIT */
/*
 * The model: samples on a vertex are Poisson with mean
 *
 *   n(u) · r(u),   r(u) = b + Σ β_j s_j(u)                     executions counted
 *   λ_B  · r(u),   r(u) = 1 + Σ β_j s_j(u), λ_B = y(B) / Σ r   not counted: a λ for each block
 *
 * with b, β ≥ 0 and s_j(u) the share of the executions of u in which it is the focus of pattern j.
 * The second form is the fixed-effects Poisson model (A. C. Cameron, P. K. Trivedi, Regression
 * Analysis of Count Data); both are fitted by multiplicative EM steps (L. Lucy 1974), which are
 * combined with those before (D. G. Anderson, "Iterative procedures for nonlinear integral
 * equations", 1965; N. C. Henderson, R. Varadhan, "Damped Anderson acceleration with restarts and
 * monotonicity control", 2019).
 *
 * A vertex without samples counts in the likelihood only through the sum of its block's rates, or
 * of all rates, so that sums of the terms stand for all such vertices.
 * Private to analyses/findings/.
 */
#pragma once

#include "analyses/findings/candidates.h"
#include "analyses/findings/findings.h"
#include "base/worker_pool.h"

typedef struct {
	const LodeFocusVertex *vertices; /* those with samples… */
	const LodeFocusBlock *blocks;    /* …and Σ s over the vertices of each block, where not
	                                    counted */
	size_t n_vertices, n_blocks;
	double executions; /* Σ n(u) s(u), where counted */
	double beta;
} LodeCostTerm;

/* The values of a vertex and of a block that scoring a candidate reads, side by side: they are read
 * in no order. */
typedef struct {
	double samples, inverse; /* y(u); 1 / r(u), 0 where that is 0 */
} LodeRatedVertex;

typedef struct {
	double samples, rate; /* y(B); Σ r over the block */
} LodeRatedBlock;

typedef struct LodeCostModel {
	const LodeObservations *seen;
	LodeWorkerCrew *crew;      /* who fits; NULL: the calling thread alone. Borrowed */
	GArray *terms;             /* LodeCostTerm */
	double base;               /* b; 1 where executions were not counted */
	double *rates;             /* r(u) of the sampled vertices */
	LodeRatedVertex *vertices; /* likewise */
	LodeRatedBlock *blocks;    /* where not counted */
	double all_samples, all_executions;
	/* A fit takes the vertices and blocks by parts that stay in a cache. */
	uint32_t n_vertex_parts, n_block_parts;
	GArray *part_starts; /* size_t: where each part of each term begins */
	GArray *part_sums;   /* double: what each part adds to `sums` */
	GArray *sums;        /* double: of the terms, for the next step; of the present rates… */
	double ratio_sum;    /* …as is Σ y(u) / r(u)… */
	double likelihood;   /* …and this, if requested */
} LodeCostModel;

/* Without terms. */
void lode_cost_model_init(LodeCostModel *self, const LodeObservations *observations);
void lode_cost_model_clear(LodeCostModel *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeCostModel, lode_cost_model_clear)

static inline LodeCostTerm *lode_cost_model_term(const LodeCostModel *self, size_t index)
{
	return &g_array_index(self->terms, LodeCostTerm, index);
}

/* Memory for judging, of one thread. */
typedef struct {
	double *values;
	size_t room;
} LodeGainScratch;

void lode_gain_scratch_clear(LodeGainScratch *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeGainScratch, lode_gain_scratch_clear)

/* By how much the log-likelihood grows at the best β of one more term; 0 where no β > 0 is an
 * improvement. The search begins at *beta, which may be 0, and leaves the best one there. Callable
 * from several threads, each with a scratch of its own, which may be zeroed at first. */
double lode_cost_model_gain(const LodeCostModel *self, const LodeCostTerm *term, double *beta,
	LodeGainScratch *scratch);

/* The log-likelihood up to a constant. */
double lode_cost_model_likelihood(LodeCostModel *self);

/* Adds or removes a term, to be fitted afterwards. */
void lode_cost_model_add(LodeCostModel *self, const LodeCostTerm *term);
void lode_cost_model_remove(LodeCostModel *self, size_t index);

/* Fits base and all β until none changes by more than `tolerance` of itself, in at most so many
 * steps. */
void lode_cost_model_fit(LodeCostModel *self, double tolerance, unsigned max_steps);

/* Samples that a term explains in all: β Σ n s, or Σ λ β s. */
double lode_cost_model_explained(const LodeCostModel *self, size_t index);

/*
 * How much more the samples scatter about the model than chance would have it, at least 1:
 * Pearson's χ² by its degrees of freedom (quasi-Poisson: P. McCullagh, J. A. Nelder, Generalized
 * Linear Models, section 6.2), corrected for small means (D. J. Fletcher, "Estimating
 * overdispersion when fitting a generalized linear model to sparse data", Biometrika 99, 2012). A
 * processor retires several instructions at once, and a sample falls on the first of them, so that
 * even instructions of equal cost have unequal samples. Gains are divided by it, and errors
 * multiplied by its root.
 */
double lode_cost_model_dispersion(const LodeCostModel *self);

/*
 * The cost of an execution in the focus of a term, in executions of the average instruction around
 * it: β over the mean rate of its blocks, weighted by its executions there. The rate of a block's
 * base alone is not a measure: out of order, most instructions cost nothing.
 */
double lode_cost_model_ratio(const LodeCostModel *self, size_t index);

/*
 * How often the focus of a term executed, to compare it between profiles: where that was counted
 * the executions; else the samples that the average instructions around it have, each as often as
 * it is in focus, which lode_cost_model_ratio() times this are what the term explains.
 */
LodeExposure lode_cost_model_exposure(const LodeCostModel *self, size_t index);

typedef struct {
	double beta, explained; /* standard errors */
} LodeCostError;

/* The terms' standard errors, from the observed information; the caller frees the array. */
LodeCostError *lode_cost_model_errors(const LodeCostModel *self);
