/* SPDX-License-Identifier: MIT */
/*
 * Dependences from one iteration of a natural loop to the next, where most iterations go through no
 * loop inside:
 *
 *   head ─▶ … ─▶ back edge          the way that at least half of the iterations take
 *    ▲               │
 *    └───────────────┘              a cycle of dependences through it bounds an iteration's time
 *                                   (recurrence: B. R. Rau, "Iterative modulo scheduling", 1994)
 *
 * and accesses in a loop whose address does not change. Private to ingest/join/.
 */
#pragma once

#include "ingest/join/attributes/dependence_search.h"

typedef struct {
	uint8_t carried;   /* 1 + LodeStepOf of the recurrence that it is a member of; 0: none */
	bool is_on_way;    /* in the usual iteration of an innermost loop; else not known: */
	bool is_linear;    /* a load or store whose address is made by sums alone */
	bool is_early;     /* a load or store whose address is known early (early_addresses.h) */
	bool is_invariant; /* a load or store in a loop that does not change its base and index */
	bool is_repeated;  /* a call in a loop that gets the same arguments in each iteration
	                      (call_arguments.h) */
} LodeLoopDependence;

/* Working memory, kept from one function to the next. */
typedef struct LodeLoopDependences LodeLoopDependences;
LodeLoopDependences *lode_loop_dependences_new(void);
void lode_loop_dependences_free(LodeLoopDependences *self);

/*
 * Fills `out`, one for each node. A recurrence is a strongly connected component (Tarjan 1972) of
 * the dependences of one iteration, over registers, flags and memory of the same expression; its
 * longest step is that of the cycle with the most latency for each iteration (maximum cycle
 * ratio). Appends to `loops`, which may be NULL, a LodeLoop of each loop that has at least
 * `least_weight`, with the node's number as its head; their strings are static.
 */
void lode_loop_dependences_run(LodeLoopDependences *self, const LodeDependenceGraph *graph,
	LodeLoopDependence *out, double least_weight, GArray *loops);
