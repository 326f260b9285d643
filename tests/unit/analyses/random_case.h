/* SPDX-License-Identifier: MIT */
/*
 * Random small graphs with mining parameters that a naive miner can do, each made from one seed;
 * and the text of a case for whoever has to reproduce it.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"
#include "model/mining_run.h"

typedef struct {
	uint32_t seed;
	LodeFlowGraph *graph;
	LodeMiningParameters parameters;
} RandomCase;

/* Any graph: cycles, self-loops, zero and fractional counts, flow-conserving or not; any parameters
 * of the flow miner. */
RandomCase *random_case_new(uint32_t seed);

/* The same, with weights and events that no binary fraction is, and no rate of an event that most
 * vertices have: sums are rounded. */
RandomCase *random_case_new_rounded(uint32_t seed);

/* Sequences of item sets: paths with every count 1, τm = 0, window 0. */
RandomCase *random_case_new_paths(uint32_t seed);

/* The graph `copies` times over, with as many more functions required: the same sequences have the
 * same supports there. */
RandomCase *random_case_repeat(const RandomCase *self, uint32_t copies);

/* The graph and, apart from it, a vertex for each of `n` further attributes, with so few executions
 * that all else is as before. */
RandomCase *random_case_widen(const RandomCase *self, uint32_t n);

/* The graph with its vertices and graphs the other way round, and the same totals. */
RandomCase *random_case_reverse(const RandomCase *self);

void random_case_free(RandomCase *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RandomCase, random_case_free)

/* Tells seed, parameters and graph (as a flow file), with what went wrong, and fails the test. */
void random_case_fail(const RandomCase *self, const char *format, ...) G_GNUC_PRINTF(2, 3);
