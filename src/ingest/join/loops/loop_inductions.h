/* SPDX-License-Identifier: MIT */
/*
 * The registers of a loop that advance by a constant in each iteration, so that the difference of
 * two values is a number of iterations:
 *
 *   head:  rax = a, rdx = d          a register before an instruction: its origin at the head of
 *          add rdx, 8                the same iteration, and a constant
 *          lea rcx, [rax + 1]
 *          mov rax, rcx              rax advances by 1, rdx by 8
 *          cmp rdx, rsi              rsi is unchanged
 *          jne head
 *
 * Found forward over all that the loop executed, inner loops included; values that differ where
 * ways meet are unknown. Private to ingest/join/.
 */
#pragma once

#include "images/instructions/register_advance.h"
#include "ingest/join/loops/natural_loops.h"

enum { LODE_LOOP_REGISTERS = 16, LODE_LOOP_UNKNOWN = LODE_LOOP_REGISTERS };

/* A general register before an instruction. */
typedef struct {
	uint64_t constant; /* modulo 2 to the width */
	uint8_t origin;    /* LODE_LOOP_UNKNOWN: neither */
	uint8_t width;     /* bits that hold */
} LodeLoopValue;

typedef struct {
	LodeLoopValue values[LODE_LOOP_REGISTERS];
	bool is_reached;
} LodeLoopState;

typedef struct {
	int64_t steps[LODE_LOOP_REGISTERS]; /* 0: it does not advance by a constant */
	uint8_t widths[LODE_LOOP_REGISTERS];
	uint32_t unchanged; /* 1 << register: what the loop does not change */
	/* Private. */
	GArray *states; /* LodeLoopState × nodes of the body */
	GArray *order;  /* uint32_t: nodes of the body, ascending */
} LodeLoopInductions;

void lode_loop_inductions_init(LodeLoopInductions *self);
void lode_loop_inductions_clear(LodeLoopInductions *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeLoopInductions, lode_loop_inductions_clear)

/* Says what a node sets to a register and a constant; false: nothing. */
typedef bool (*LodeAdvanceFunc)(const void *data, uint32_t node, LodeRegisterAdvance *out);

/* False: the loop is too large. */
bool lode_loop_inductions_find(LodeLoopInductions *self, const LodeNaturalLoop *loop,
	LodeAdvanceFunc advance, const void *data);

/* What a register is before a node of the loop. False: the node is not reached. */
bool lode_loop_inductions_value(
	const LodeLoopInductions *self, uint32_t node, unsigned number, LodeLoopValue *out);

/* Registers before a node of the loop, in the order of their encoding. */
typedef struct {
	uint32_t node;
	uint32_t known; /* 1 << register */
	const uint64_t *registers;
} LodeLoopSample;

typedef enum {
	LODE_ITERATIONS_KNOWN,
	LODE_ITERATIONS_UNKNOWN,       /* no register advances, or its value is not there */
	LODE_ITERATIONS_OF_OTHER_CALL, /* an unchanged register differs */
	LODE_ITERATIONS_CONTRADICTORY, /* registers disagree: it was left in between */
} LodeIterations;

/* Iterations from one sample to the other; below 0 where the loop began again in between. */
LodeIterations lode_loop_inductions_between(const LodeLoopInductions *self,
	const LodeLoopSample *first, const LodeLoopSample *second, int64_t *out_n);
