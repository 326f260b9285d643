/* SPDX-License-Identifier: MIT */
/*
 * Execution flow graphs of a stated size and shape for benchmarks, the same for the same seed:
 * structured functions (runs, branches, loops) whose counts conserve flow, instructions with Zipf
 * opcodes and the attributes that come with them.
 */
#pragma once

#include "analyses/flow_graph/flow_graph.h"

typedef struct {
	const char *name;
	uint32_t n_functions, n_vertices;
	uint32_t n_opcodes;
	double opcode_skew;   /* exponent of Zipf's law */
	double function_skew; /* of the functions' calls; near 0 the profile is flat */
	uint32_t n_extra;     /* further attributes of every vertex: what a compiler would add */
	double miss_rate;     /* share of memory accesses that carry a miss event */
	uint64_t seed;
} SyntheticShape;

/* The paper's scale, SPECjvm2008's, and one hot method. */
extern const SyntheticShape synthetic_shapes[];
extern const size_t n_synthetic_shapes;

/* The shape with this name, or NULL. */
const SyntheticShape *synthetic_shape_find(const char *name);

LodeFlowGraph *synthetic_graph_new(const SyntheticShape *shape);
