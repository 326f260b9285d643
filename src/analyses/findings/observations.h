/* SPDX-License-Identifier: MIT */
/*
 * The data that the model of findings explains: samples on vertices, how often each executed, and
 * from where it was reached. Private to analyses/findings/.
 *
 * The observations of two profiles can be joined: the vertices of the second part come after those
 * of the first, and all are of the joined graph.
 *
 * Where executions were counted, the vertices that executed are one group. Where they were not, all
 * instructions of a basic block executed equally often, but this number is unknown: each block is a
 * group of its own, and blocks without samples are left out, as they carry no information.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"

#include <stdint.h>

typedef struct LodeProfile LodeProfile;

/* A vertex that comes right before or after another one, in `share` of the latter's executions. */
typedef struct {
	uint32_t vertex;
	float share;
} LodeNeighbour;

typedef struct LodeObservations {
	const LodeFlowGraph *graph;
	bool is_counted;
	uint32_t n;              /* observed vertices, numbered 0 … n−1 in the graph's order */
	uint32_t *vertices;      /* of the graph */
	double *samples;         /* y(u) */
	double *executions;      /* n(u); 1 where they were not counted */
	uint32_t n_blocks;       /* groups of vertices that follow each other */
	uint32_t *blocks;        /* of each observed vertex */
	double *block_samples;   /* Σ y(u) of a block */
	double *block_sizes;     /* Σ executions(u) of a block */
	uint32_t n_sampled;      /* observed vertices with samples, numbered likewise */
	uint32_t *sampled;       /* their observed vertices, ascending */
	double *sampled_samples; /* their y(u) */
	uint32_t *before_starts, *after_starts; /* [n + 1]: ranges of `before` and `after` */
	LodeNeighbour *before, *after;          /* vertices of the graph */
	double unit;                            /* weight of one sample */
	double total_samples;                   /* all weight of the profile, in samples */
	double total_executions;
	uint32_t n_executed;  /* vertices of the graph that executed */
	double least_samples; /* total_samples; of two parts the smaller one's */
	/* Where the second part begins; where there is none, at the end. */
	uint32_t second, second_sampled, second_block;
	/* [n]: of each vertex the one of the other part that is the same; LODE_NONE: there is none.
	 * NULL: there is one part. */
	uint32_t *counterparts;
} LodeObservations;

/* `graph` is that of single instructions of the profile; both must outlive the result, which the
 * caller frees. */
LodeObservations *lode_observations_new(
	const LodeProfile *profile, const LodeFlowGraph *graph, const char *weight);
void lode_observations_free(LodeObservations *self);

/*
 * Joins the observations of two profiles. The parts, each of its own profile's graph, are of the
 * joined graph (lode_flow_graph_join()) afterwards, as is the result. Both are counted, or neither.
 * `counterparts`: for each instruction of the first profile the same one of the second, or
 * LODE_NONE; NULL: none has one. The caller frees the result.
 */
LodeObservations *lode_observations_join(LodeObservations *const parts[2],
	const LodeFlowGraph *joined, const uint32_t *counterparts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LodeObservations, lode_observations_free)
