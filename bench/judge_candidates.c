/* SPDX-License-Identifier: MIT */
/*
 * Processor seconds of one judgement of all candidates of the findings' model, from scratch, beside
 * those of one copy of their vertices and blocks in memory (the peer).
 *
 *   judge_candidates [CANDIDATES [VERTICES [MEMBERS]]]    default: 300000 100000 100
 */
#include "analyses/findings/cost_model.h"
#include "analyses/findings/observations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 4, RUNS = 5 };

typedef struct {
	LodeObservations seen;
	LodeCostModel model;
	LodeFocusVertex *vertices;
	LodeFocusBlock *blocks;
	size_t n_candidates, n_members; /* members: of each candidate */
	double *gains;
	LodeGainScratch scratch;
} Bench;

static void make(Bench *self, uint32_t n_vertices)
{
	LodeObservations *seen = &self->seen;
	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	seen->n = seen->n_sampled = n_vertices;
	seen->n_blocks = (n_vertices + BLOCK - 1) / BLOCK;
	seen->sampled_samples = g_new(double, n_vertices);
	seen->block_samples = g_new0(double, seen->n_blocks);
	seen->block_sizes = g_new0(double, seen->n_blocks);
	for (uint32_t u = 0; u < n_vertices; u++) {
		seen->sampled_samples[u] = g_rand_int_range(random, 1, 20);
		seen->block_samples[u / BLOCK] += seen->sampled_samples[u];
		seen->block_sizes[u / BLOCK] += 1;
	}
	size_t n = self->n_candidates * self->n_members;
	self->vertices = g_new(LodeFocusVertex, n);
	self->blocks = g_new(LodeFocusBlock, n);
	self->gains = g_new(double, self->n_candidates);
	for (size_t i = 0; i < n; i++) {
		/* Ascending inside a candidate, each in a block of its own. */
		uint64_t at = (i % self->n_members * n_vertices +
				      (uint64_t)g_rand_int_range(random, 0, (gint32)n_vertices)) /
		              self->n_members;
		self->vertices[i] = (LodeFocusVertex){(uint32_t)at, 1};
		self->blocks[i] = (LodeFocusBlock){(uint32_t)at / BLOCK, 1};
	}
	lode_cost_model_init(&self->model, seen);
}

static void judge(Bench *self, size_t task)
{
	double beta = 0.1;
	LodeCostTerm term = {.vertices = self->vertices + task * self->n_members,
		.blocks = self->blocks + task * self->n_members,
		.n_vertices = self->n_members,
		.n_blocks = self->n_members};

	self->gains[task] = lode_cost_model_gain(&self->model, &term, &beta, &self->scratch);
}

static double copy(const Bench *self)
{
	size_t size = self->n_candidates * self->n_members * sizeof(LodeFocusVertex);
	char *to = g_malloc(size);

	memset(to, 0, size);
	clock_t start = clock();
	memcpy(to, self->vertices, size);
	memcpy(to, self->blocks, size);
	double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	g_free(to);
	return seconds;
}

int main(int argc, char **argv)
{
	Bench bench = {.n_candidates = 300000, .n_members = 100};
	uint32_t n_vertices = 100000;
	double seconds = 1e9, peer = 1e9;

	if (argc > 1)
		bench.n_candidates = strtoull(argv[1], NULL, 10);
	if (argc > 2)
		n_vertices = (uint32_t)strtoul(argv[2], NULL, 10);
	if (argc > 3)
		bench.n_members = strtoull(argv[3], NULL, 10);
	if (bench.n_candidates == 0 || n_vertices == 0 || bench.n_members == 0)
		return 2;
	make(&bench, n_vertices);
	for (int i = 0; i < RUNS; i++) {
		clock_t start = clock();
		for (size_t task = 0; task < bench.n_candidates; task++)
			judge(&bench, task);
		seconds = MIN(seconds, (double)(clock() - start) / CLOCKS_PER_SEC);
		peer = MIN(peer, copy(&bench));
	}
	printf("%zu candidates of %zu of %u vertices: %.3f s; a copy %.3f s; ratio %.1f\n",
		bench.n_candidates, bench.n_members, n_vertices, seconds, peer, seconds / peer);
	return 0;
}
