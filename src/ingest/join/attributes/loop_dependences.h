/* SPDX-License-Identifier: MIT */
/*
 * Dependences from one iteration of a loop to the next, of innermost natural loops:
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

/* The operation of the longest step of a recurrence. */
typedef enum {
	LODE_STEP_OF_ALU,
	LODE_STEP_OF_CMOV,
	LODE_STEP_OF_MUL,
	LODE_STEP_OF_FP,
	LODE_STEP_OF_CONVERT,
	LODE_STEP_OF_LOAD,  /* a load whose address is made by the recurrence */
	LODE_STEP_OF_STORE, /* a value that is stored, and loaded again in the next iteration */
	LODE_STEP_OF_DIV,
	LODE_STEP_OF_MERGE, /* an instruction that keeps a part of its old destination */
	LODE_N_STEPS_OF,
} LodeStepOf;

/* "alu", "cmov" … */
const char *lode_step_of_name(LodeStepOf step);

typedef struct {
	uint8_t carried;   /* 1 + LodeStepOf of the recurrence that it is a member of; 0: none */
	bool is_early;     /* a load or store whose address is known early (early_addresses.h) */
	bool is_invariant; /* a load or store in a loop that does not change its base and index */
} LodeLoopDependence;

/* Working memory, kept from one function to the next. */
typedef struct LodeLoopDependences LodeLoopDependences;
LodeLoopDependences *lode_loop_dependences_new(void);
void lode_loop_dependences_free(LodeLoopDependences *self);

/*
 * Fills `out`, one for each node. A recurrence is a strongly connected component (Tarjan 1972) of
 * the dependences of one iteration, over registers, flags and memory of the same expression; its
 * longest step is that of the cycle with the most latency for each iteration (maximum cycle
 * ratio). Latencies are those of nearly all cores of the last ten years, in cycles: ALU 1, cmov 1,
 * multiplication 3, addition and multiplication of floating point 4, conversion 5, load 5, store to
 * load 5, division 15.
 */
void lode_loop_dependences_run(
	LodeLoopDependences *self, const LodeDependenceGraph *graph, LodeLoopDependence *out);
