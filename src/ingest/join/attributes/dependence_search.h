/* SPDX-License-Identifier: MIT */
/*
 * Where the values that an instruction reads come from: reaching definitions along the edges that
 * were executed, backward, each way with the share of executions that its counts give it (the
 * predecessors of an instruction are independent of what comes after it: first-order Markov).
 * Private to ingest/join/.
 */
#pragma once

#include "images/cores/core.h"
#include "images/instructions/register_use.h"

#include <stdbool.h>
#include <stdint.h>

/* The kinds of instruction that may have made a value. */
typedef enum {
	LODE_NEED_LOAD,
	LODE_NEED_LOAD_POINTER,
	LODE_NEED_LOAD_INDEXED,
	LODE_NEED_LOAD_GLOBAL,
	LODE_NEED_LOAD_STACK,
	LODE_NEED_MISS,
	LODE_NEED_MUL,
	LODE_NEED_DIV,
	LODE_NEED_FP,
	LODE_NEED_CONVERT,
	LODE_NEED_ATOMIC,
	LODE_NEED_CALL,
	LODE_NEED_STORE,      /* it is loaded from where it was stored */
	LODE_NEED_PART_STORE, /* likewise, and the store has not all of it */
	LODE_N_NEEDS,
} LodeNeed;

/* "load", "load-pointer" … */
const char *lode_need_name(LodeNeed need);

enum {
	LODE_NEED_DISTANCE = 16,     /* instructions that are looked back at */
	LODE_NEED_SMALLEST_WAY = 64, /* a way of less than 1/64 of the executions is not followed */
};

/* An executed instruction of a function. */
typedef struct {
	LodeRegisterUse use;
	uint16_t makes; /* bits of LodeNeed: what its results are */
	uint8_t work;   /* LodeStepOf: what takes the time from its registers to its results */
	/* Cycles: of the work; from an old destination of which a part stays; from its address to
	 * what it loads; from a store to the load of it. */
	double latency, merge_latency, load_latency, forward_latency;
	double chained_latency; /* of the work after one of the same class */
	double count, weight;   /* executions; of the weight event */
	uint8_t loop_depth;
	bool is_known; /* false: not decoded; nothing is followed beyond it */
	bool is_call;
	bool is_loop_head, is_block_start;
} LodeDependenceNode;

/* A predecessor, and the share of the executions that came from it. */
typedef struct {
	uint32_t source;
	double share;
} LodeDependenceWay;

/* The instructions of a function; borrowed. */
typedef struct {
	const LodeDependenceNode *nodes;
	uint32_t n;
	const uint32_t *first_ways; /* × (n + 1): range of `ways` of each node */
	const LodeDependenceWay *ways;
	const LodeCore *core; /* that executes them; for bounds of loops alone */
} LodeDependenceGraph;

/* The result for one instruction. */
typedef struct {
	uint16_t needs;   /* bits of LodeNeed that hold in half of its executions */
	uint16_t address; /* likewise, of the registers that its addresses are made of */
	uint16_t behind;  /* bits of LodeNeed: slow ones that cheap instructions lie between */
	uint8_t chain;    /* log₂ of the length of the chain that it ends; 0: it ends none */
} LodeDependence;

/* Working memory, kept from one function to the next. */
typedef struct LodeDependenceSearch LodeDependenceSearch;
LodeDependenceSearch *lode_dependence_search_new(void);
void lode_dependence_search_free(LodeDependenceSearch *self);

/* Fills `out`, one for each node. */
void lode_dependence_search_run(
	LodeDependenceSearch *self, const LodeDependenceGraph *graph, LodeDependence *out);
