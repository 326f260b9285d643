/* SPDX-License-Identifier: MIT */
/*
 * The time of a loop's turn, carried inward to loops whose calls are too short to have a time by
 * pairs of samples of their own:
 *
 *   main:  loop of 18.5 µs a turn ──calls──▶ f:  loop of 256 rounds each time, 2.4 % of the samples
 *                                                18.5 µs × 2.4 % ÷ 256 = 1.73 ns for each
 *
 * Both are in one function, or the loop around calls the function of the other one itself. Known
 * only where the code says how many rounds there are in a turn (loop_rounds.h).
 * Private to ingest/join/.
 */
#pragma once

#include "ingest/join/loops/loop_times.h"

/* A loop with a time, and the pairs of its function. */
typedef struct {
	uint32_t head; /* node */
	LodePaceTime time;
	const LodeLoopPair *pairs;
	size_t n_pairs;
} LodeLoopTurn;

/* The turns of a loop that were seen, of samples in the function itself and of those in what it
 * calls. */
typedef struct {
	LodePaceTime time;   /* of a turn */
	double n_samples[2]; /* that the timer took in them */
	double n_seen[2];    /* of these: the others were lost, or taken in the kernel */
} LodeSeenTurns;

/* A function that is called in each turn of a loop. */
typedef struct {
	uint32_t function, turns; /* number of `turns` */
	double calls;             /* in a turn */
	size_t first, n_seen;     /* of `seen` */
} LodeLoopCallee;

/* A sample in a function that was called. */
typedef struct {
	uint32_t instruction;
	double weight; /* so many samples */
} LodeSeenSample;

/* A loop's part of a turn. */
typedef struct {
	uint32_t head, turns;
	double iterations; /* in a turn */
	double share;      /* of the turn's samples */
	uint64_t shape;    /* equal for loops of the same work */
	size_t n;          /* samples */
} LodeLoopShare;

/* The function that a node calls directly, or LODE_NONE. */
typedef uint32_t (*LodeCalledFunc)(const void *data, uint32_t node);

typedef struct {
	GArray *turns;   /* LodeSeenTurns */
	GArray *callees; /* LodeLoopCallee, of all turns */
	GArray *seen;    /* LodeSeenSample */
	GArray *found;   /* LodeLoopShare; head: the instruction */
	/* Private. */
	uint32_t first_instruction;
	const LodeLoopCode *code; /* of the function at hand */
	LodeLoopRounds *rounds;
	GArray *inside; /* LodeLoopPair: in the turns at hand */
	GArray *heads;  /* uint32_t: loops in the loop at hand */
	GArray *calls;  /* calls there, by function */
} LodeLoopShares;

void lode_loop_shares_init(LodeLoopShares *self);
void lode_loop_shares_clear(LodeLoopShares *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeLoopShares, lode_loop_shares_clear)

/* Begins a function, whose nodes begin at `first_instruction`; borrows the code. */
void lode_loop_shares_begin(
	LodeLoopShares *self, const LodeLoopCode *code, uint32_t first_instruction);

/* Adds the loops in a loop of the function, and the functions that it calls. */
void lode_loop_shares_add_turn(
	LodeLoopShares *self, const LodeLoopTurn *turn, LodeCalledFunc called);

/* Adds the loops of the function, which is the callee's. `sample_weight`: of one sample, as in the
 * nodes' weights. */
void lode_loop_shares_add_callee(
	LodeLoopShares *self, const LodeLoopCallee *callee, double sample_weight);

/* Appends a LodeLoopTime for each loop of which it is known, those with most samples first. Loops
 * of the same work and rounds in the turns of one loop have their common time, unless their numbers
 * of samples differ by more than chance. May sort what was found. */
void lode_loop_shares_times(LodeLoopShares *self, GArray *out);
