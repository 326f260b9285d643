/* SPDX-License-Identifier: MIT */
/*
 * Times the inference of counts, in processor time: many small functions, and huge ones of several
 * shapes. The counts of blocks are random, as if counted, or means of samples; no edge is
 * measured.
 */
#include "ingest/inference/flow_inference.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

typedef struct {
	const char *name;
	uint32_t n_blocks;
	uint32_t n_functions;
	int32_t reach;  /* how far a branch goes, in blocks */
	double branchy; /* share of the blocks that end in a branch */
	double unknown; /* share of the blocks without a count */
	bool is_sampled;
} Shape;

static const Shape shapes[] = {
	{"tiny", 8, 20000, 6, 0.5, 0.2},
	{"typical", 40, 5000, 20, 0.6, 0.2},
	{"typical, sampled", 40, 5000, 20, 0.6, 0, true},
	{"large", 1000, 20, 100, 0.6, 0.2},
	{"huge", 20000, 1, 200, 0.6, 0.2},
	{"huge, known", 20000, 1, 200, 0.6, 0},
	{"huge, sampled", 20000, 1, 200, 0.6, 0, true},
	{"huge chain", 20000, 1, 1, 0, 0},
	{"huge, wild", 20000, 1, 20000, 0.9, 0.2},
	{"huge, sparse", 20000, 1, 50, 0.5, 0.95},
};

typedef struct {
	GArray *blocks, *edges;
	double *out_blocks, *out_edges;
	double seconds, slowest;
	unsigned n_limited;
} Bench;

/* Loops go back where the reach is drawn below zero: a third of the branches. */
static void fill(Bench *bench, const Shape *shape, GRand *random)
{
	g_array_set_size(bench->blocks, 0);
	g_array_set_size(bench->edges, 0);
	for (uint32_t b = 0; b < shape->n_blocks; b++) {
		LodeInferenceBlock block = {.count = floor(exp2(g_rand_double(random) * 20))};
		if (shape->is_sampled)
			block.weight = g_rand_int_range(random, 1, 12);
		if (g_rand_double(random) < shape->unknown)
			block.count = -1;
		g_array_append_val(bench->blocks, block);
		LodeInferenceEdge edge = {
			.source = b, .target = b + 1, .is_fall_through = true, .count = -1};
		if (b + 1 < shape->n_blocks)
			g_array_append_val(bench->edges, edge);
		if (g_rand_double(random) >= shape->branchy)
			continue;
		int32_t way = g_rand_int_range(random, -shape->reach / 2, shape->reach + 1);
		edge.target = (uint32_t)CLAMP((int64_t)b + way, 0, (int64_t)shape->n_blocks - 1);
		edge.is_fall_through = false;
		g_array_append_val(bench->edges, edge);
	}
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void infer(Bench *bench)
{
	LodeInferenceGraph graph = {(LodeInferenceBlock *)(void *)bench->blocks->data,
		bench->blocks->len, (LodeInferenceEdge *)(void *)bench->edges->data,
		bench->edges->len};
	LodeInferenceOptions options = {.unit = 1, .sample = 256};
	LodeInferenceResult result = {.blocks = bench->out_blocks, .edges = bench->out_edges};
	double start = cpu_seconds();

	if (!lode_flow_inference_solve(&graph, &options, &result, NULL))
		g_error("no memory");
	double seconds = cpu_seconds() - start;
	bench->seconds += seconds;
	bench->slowest = fmax(bench->slowest, seconds);
	bench->n_limited += !result.is_optimal;
}

static void run(const Shape *shape)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(7);
	Bench bench = {
		.blocks = g_array_new(FALSE, TRUE, sizeof(LodeInferenceBlock)),
		.edges = g_array_new(FALSE, TRUE, sizeof(LodeInferenceEdge)),
		.out_blocks = g_new(double, shape->n_blocks),
		.out_edges = g_new(double, 2 * shape->n_blocks),
	};

	for (uint32_t i = 0; i < shape->n_functions; i++) {
		fill(&bench, shape, random);
		infer(&bench);
	}
	printf("%-16s %8u %9u %12.1f %14.1f %8u\n", shape->name, shape->n_blocks,
		shape->n_functions, bench.seconds / shape->n_functions * 1e6, bench.slowest * 1e6,
		bench.n_limited);
	fflush(stdout);
	g_array_unref(bench.blocks);
	g_array_unref(bench.edges);
	g_free(bench.out_blocks);
	g_free(bench.out_edges);
}

int main(void)
{
	printf("%-16s %8s %9s %12s %14s %8s\n", "shape", "blocks", "functions", "mean us",
		"slowest us", "limited");
	for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++)
		run(&shapes[i]);
	return 0;
}
