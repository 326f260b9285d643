/* SPDX-License-Identifier: MIT */
/*
 * Which threads go onto one memory: a graph of threads, its edges weighing what two of them share,
 * is cut into groups of bounded size so that little is shared over the cut.
 *
 *   t0 ══ t1      t2 ══ t3          memory 0: t0 t1     cost: t1─t2
 *          └──────┘                 memory 1: t2 t3
 *
 * B. W. Kernighan, S. Lin: An efficient heuristic procedure for partitioning graphs, 1970;
 * C. M. Fiduccia, R. M. Mattheyses: A linear-time heuristic for improving network partitions, 1982.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint32_t n_threads, n_memories;
	const double *shared; /* n_threads², symmetric, none negative */
	const uint32_t
		*capacities;     /* threads that each memory takes; together at least n_threads */
	const double *distances; /* n_memories², 1 at home; NULL: all others are equally far */
} LodeThreadGraph;

/* Σ over pairs of threads of their shared weight × the additional distance between their memories.
 */
double lode_thread_groups_cost(const LodeThreadGraph *graph, const uint32_t *memories);

/* Fills the memory of each thread. The same graph gives the same groups. */
void lode_thread_groups_find(const LodeThreadGraph *graph, uint32_t *out_memories);
