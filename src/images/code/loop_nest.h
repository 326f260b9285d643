/* SPDX-License-Identifier: MIT */
/*
 * Private to images/: reachability, dominators and natural loops of a small directed graph.
 *
 * Dominators by the semi-dominator / nearest-common-ancestor method (Georgiadis, "Linear-time
 * algorithms for dominators and related problems", ch. 2): its cost stays near linear where the
 * iterative algorithm is quadratic on a long function whose every block jumps to one exit.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint32_t n;              /* vertices */
	const uint32_t *offsets; /* n + 1; successors of v: targets[offsets[v] … offsets[v + 1]) */
	const uint32_t *targets;
} LodeLoopGraph;

typedef struct {
	uint32_t dominator;  /* immediate one; UINT32_MAX: none (a root) */
	uint32_t loop_depth; /* natural loops around it, itself included when it is a head */
	bool is_loop_head;
	bool is_reachable; /* from one of the given roots */
} LodeLoopVertex;

/*
 * Fills `out_vertices` (n of them). `roots` are where control may come from outside, the first is
 * the entry; a root already reached from an earlier one is skipped. The unreachable part is
 * analysed on its own, so that it has loops too, but never changes the reachable part.
 */
void lode_loop_nest_find(const LodeLoopGraph *graph, const uint32_t *roots, size_t n_roots,
	LodeLoopVertex *out_vertices);
