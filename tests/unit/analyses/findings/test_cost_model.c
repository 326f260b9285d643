/* SPDX-License-Identifier: MIT */
/* The model's sums over sampled vertices and blocks against those over all vertices. */
#include "analyses/findings/cost_model.h"
#include "analyses/findings/observations.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

enum { MAX_VERTICES = 400, MAX_TERMS = 6 };

/* A model with its terms spelled out: the share of every vertex in every term. */
typedef struct {
	LodeObservations seen;
	LodeCostModel model;
	LodeCostTerm terms[MAX_TERMS];
	float shares[MAX_TERMS][MAX_VERTICES];
	unsigned n_terms;
} Case;

static void case_draw(Case *self)
{
	LodeObservations *seen = &self->seen;

	memset(self, 0, sizeof(*self));
	seen->is_counted = random_bit();
	seen->n = (uint32_t)random_int_range(1, MAX_VERTICES);
	seen->samples = g_new0(double, seen->n);
	seen->executions = g_new0(double, seen->n);
	seen->blocks = g_new0(uint32_t, seen->n);
	seen->block_samples = g_new0(double, seen->n);
	seen->block_sizes = g_new0(double, seen->n);
	seen->sampled = g_new0(uint32_t, seen->n);
	seen->sampled_samples = g_new0(double, seen->n);
	for (uint32_t u = 0; u < seen->n; u++) {
		bool is_first = u == 0 || (!seen->is_counted && random_int_range(0, 5) == 0);
		seen->n_blocks += is_first;
		seen->blocks[u] = seen->n_blocks - 1;
		/* A block without any samples is not observed: its first vertex has some. */
		seen->samples[u] = is_first || random_int_range(0, 3) == 0
		                           ? random_int_range(1, 50) / 4.0
		                           : 0;
		seen->executions[u] = seen->is_counted ? random_int_range(1, 1000) : 1;
		seen->block_samples[seen->blocks[u]] += seen->samples[u];
		seen->block_sizes[seen->blocks[u]] += seen->executions[u];
		if (seen->samples[u] > 0) {
			seen->sampled[seen->n_sampled] = u;
			seen->sampled_samples[seen->n_sampled++] = seen->samples[u];
		}
	}
	self->n_terms = (unsigned)random_int_range(1, MAX_TERMS + 1);
}

/* The term with number `index` of random shares, in the form that the model takes. */
static void draw_term(Case *self, unsigned index)
{
	const LodeObservations *seen = &self->seen;
	LodeCostTerm *term = &self->terms[index];
	LodeFocusVertex *vertices = g_new0(LodeFocusVertex, seen->n);
	LodeFocusBlock *blocks = g_new0(LodeFocusBlock, seen->n);
	uint32_t k = 0;

	for (uint32_t u = 0; u < seen->n; u++) {
		float share = random_int_range(0, 4) == 0 ? (float)random_int_range(1, 9) / 8 : 0;
		self->shares[index][u] = share;
		if (share > 0 && seen->samples[u] > 0)
			vertices[term->n_vertices++] = (LodeFocusVertex){k, share};
		k += seen->samples[u] > 0;
		if (seen->is_counted)
			term->executions += seen->executions[u] * (double)share;
		if (share == 0 || seen->is_counted)
			continue;
		if (term->n_blocks == 0 || blocks[term->n_blocks - 1].block != seen->blocks[u])
			blocks[term->n_blocks++].block = seen->blocks[u];
		blocks[term->n_blocks - 1].share += share;
	}
	term->vertices = vertices;
	term->blocks = blocks;
	term->beta = random_int_range(1, 40) / 8.0;
}

static void case_clear(Case *self)
{
	lode_cost_model_clear(&self->model);
	for (unsigned j = 0; j < self->n_terms; j++) {
		g_free((void *)self->terms[j].vertices);
		g_free((void *)self->terms[j].blocks);
	}
	g_free(self->seen.samples);
	g_free(self->seen.executions);
	g_free(self->seen.blocks);
	g_free(self->seen.block_samples);
	g_free(self->seen.block_sizes);
	g_free(self->seen.sampled);
	g_free(self->seen.sampled_samples);
}

/* What the model expects of each vertex, by the definition; `out_rates` are r(u). */
static void expect(const Case *self, double *out_rates, double *out_means)
{
	const LodeObservations *seen = &self->seen;
	g_autofree double *sums = g_new0(double, seen->n_blocks);

	for (uint32_t u = 0; u < seen->n; u++) {
		out_rates[u] = self->model.base;
		for (guint j = 0; j < self->model.terms->len; j++)
			out_rates[u] += lode_cost_model_term(&self->model, j)->beta *
			                (double)self->shares[j][u];
		sums[seen->blocks[u]] += out_rates[u];
	}
	for (uint32_t u = 0; u < seen->n; u++) {
		double times = seen->is_counted ? seen->executions[u]
		                                : seen->block_samples[seen->blocks[u]] /
		                                          sums[seen->blocks[u]];
		out_means[u] = times * out_rates[u];
	}
}

/* Σ y log μ − μ: the samples of a block are given where executions were not counted. */
static double likelihood(const Case *self)
{
	double rates[MAX_VERTICES], means[MAX_VERTICES], sum = 0;

	expect(self, rates, means);
	for (uint32_t u = 0; u < self->seen.n; u++)
		sum += (self->seen.samples[u] > 0 ? self->seen.samples[u] * log(means[u]) : 0) -
		       means[u];
	return sum;
}

static double dispersion(const Case *self)
{
	double rates[MAX_VERTICES], means[MAX_VERTICES], sum = 0, sparse = 1;
	double freedom = (double)self->seen.n - self->model.terms->len -
	                 (self->seen.is_counted ? 0 : self->seen.n_blocks);

	expect(self, rates, means);
	for (uint32_t u = 0; u < self->seen.n; u++) {
		double more = self->seen.samples[u] - means[u];
		sum += more * more / means[u];
		sparse += more / means[u] / self->seen.n;
	}
	return freedom > 0 ? fmax(1, sum / freedom / sparse) : 1;
}

static void assert_near(double a, double b, double scale)
{
	g_assert_cmpfloat_with_epsilon(a, b, 1e-9 * (1 + scale));
}

/* With all terms but the last in the model: its numbers, and what the last would add. */
static void test_sums(void)
{
	for (int i = 0; i < 60; i++) {
		Case one;
		case_draw(&one);
		lode_cost_model_init(&one.model, &one.seen);
		for (unsigned j = 0; j < one.n_terms; j++)
			draw_term(&one, j);
		for (unsigned j = 0; j + 1 < one.n_terms; j++)
			lode_cost_model_add(&one.model, &one.terms[j]);
		lode_cost_model_fit(&one.model, 1e-3, 0);
		double before = likelihood(&one), own = lode_cost_model_likelihood(&one.model);
		assert_near(lode_cost_model_dispersion(&one.model), dispersion(&one), 10);

		LodeCostTerm *last = &one.terms[one.n_terms - 1];
		g_auto(LodeGainScratch) scratch = {0};
		double beta = 0, gain = lode_cost_model_gain(&one.model, last, &beta, &scratch);
		last->beta = beta;
		lode_cost_model_add(&one.model, last);
		lode_cost_model_fit(&one.model, 1e-3, 0);
		assert_near(likelihood(&one) - before, gain, fabs(before));
		assert_near(lode_cost_model_likelihood(&one.model) - own, gain, fabs(own));
		case_clear(&one);
	}
}

/* What is fitted is a maximum: no term does better at a somewhat different β. */
static void test_fit(void)
{
	for (int i = 0; i < 30; i++) {
		Case one;
		case_draw(&one);
		lode_cost_model_init(&one.model, &one.seen);
		for (unsigned j = 0; j < one.n_terms; j++) {
			draw_term(&one, j);
			lode_cost_model_add(&one.model, &one.terms[j]);
		}
		lode_cost_model_fit(&one.model, 1e-7, 3000);
		double best = likelihood(&one);
		for (unsigned j = 0; j < one.n_terms; j++) {
			double *beta = &lode_cost_model_term(&one.model, j)->beta, fitted = *beta;
			for (int sign = -1; sign <= 1; sign += 2) {
				*beta = fitted * (1 + 0.03 * sign);
				g_assert_cmpfloat(likelihood(&one), <=, best + 1e-4);
			}
			*beta = fitted;
		}
		case_clear(&one);
	}
}

/* A model of so many vertices that a crew shares them; blocks of four. */
static void large_draw(Case *self)
{
	enum { VERTICES = 12000 };
	LodeObservations *seen = &self->seen;

	memset(self, 0, sizeof(*self));
	seen->n = seen->n_sampled = VERTICES;
	seen->n_blocks = VERTICES / 4;
	seen->sampled_samples = g_new(double, VERTICES);
	seen->block_samples = g_new0(double, VERTICES);
	seen->block_sizes = g_new0(double, VERTICES);
	for (uint32_t u = 0; u < VERTICES; u++) {
		seen->sampled_samples[u] = random_int_range(1, 50) / 4.0;
		seen->block_samples[u / 4] += seen->sampled_samples[u];
		seen->block_sizes[u / 4] += 1;
	}
	self->n_terms = MAX_TERMS;
	for (unsigned j = 0; j < MAX_TERMS; j++) {
		LodeFocusVertex *vertices = g_new(LodeFocusVertex, VERTICES);
		LodeFocusBlock *blocks = g_new(LodeFocusBlock, VERTICES);
		LodeCostTerm *term = &self->terms[j];
		*term = (LodeCostTerm){.vertices = vertices, .blocks = blocks, .beta = 1};
		for (uint32_t u = 0; u < VERTICES; u++) {
			float share = (float)random_int_range(1, 9) / 8;
			if (random_bit())
				continue;
			vertices[term->n_vertices++] = (LodeFocusVertex){u, share};
			if (term->n_blocks == 0 || blocks[term->n_blocks - 1].block != u / 4)
				blocks[term->n_blocks++] = (LodeFocusBlock){u / 4, 0};
			blocks[term->n_blocks - 1].share += share;
		}
	}
}

/* To the last bit. */
static void test_threads(void)
{
	Case one;
	double betas[MAX_TERMS] = {0}, likelihood = 0;

	large_draw(&one);
	for (unsigned n_workers = 1; n_workers <= 4; n_workers++) {
		g_autoptr(LodeWorkerCrew) crew = lode_worker_crew_new(n_workers);
		lode_cost_model_init(&one.model, &one.seen);
		one.model.crew = crew;
		for (unsigned j = 0; j < one.n_terms; j++)
			lode_cost_model_add(&one.model, &one.terms[j]);
		lode_cost_model_fit(&one.model, 1e-4, 20);
		for (unsigned j = 0; j < one.n_terms; j++) {
			double beta = lode_cost_model_term(&one.model, j)->beta;
			g_assert_true(
				n_workers == 1 || memcmp(&beta, &betas[j], sizeof(beta)) == 0);
			betas[j] = beta;
		}
		double now = lode_cost_model_likelihood(&one.model);
		g_assert_true(n_workers == 1 || memcmp(&now, &likelihood, sizeof(now)) == 0);
		likelihood = now;
		if (n_workers < 4)
			lode_cost_model_clear(&one.model);
	}
	case_clear(&one);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/analyses/cost-model/sums", test_sums,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		NULL);
	add_random_test(
		"/analyses/cost-model/fit", test_fit, "R02S00000000000000000000000000000003", NULL);
	add_random_test("/analyses/cost-model/threads", test_threads,
		"R02S00000000000000000000000000000004", NULL);
	return g_test_run();
}
