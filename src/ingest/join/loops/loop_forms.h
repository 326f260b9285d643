/* SPDX-License-Identifier: MIT */
/*
 * The general registers of a loop, by what they were at its head:
 *
 *   head:  rax = a, rdx = d, rdi unchanged
 *          add rdx, 8                d + 8
 *          lea rcx, [rax + 1]        a + 1
 *          mov r9, rax
 *          imul r9, rdi              a × something that is the same in each iteration
 *          add r9, rdx               unknown: a sum of two registers that change
 *          mov rax, rcx              rax advances by 1, rdx by 8
 *          cmp rdx, rsi              rsi is unchanged
 *          jne head
 *
 * Found forward over all that the loop executed, inner loops included; what differs where ways meet
 * is unknown. A register that advances by a constant in each iteration counts them: the difference
 * of two of its values is a number of iterations. Private to ingest/join/.
 */
#pragma once

#include "ingest/join/loops/natural_loops.h"

/* The bytes of an instruction. */
typedef struct {
	const uint8_t *bytes; /* NULL: they are not known */
	size_t size;
} LodeLoopBytes;

typedef LodeLoopBytes (*LodeLoopBytesFunc)(const void *data, uint32_t node);

/* A function's code, with all ways that it has. */
typedef struct {
	const LodeDependenceGraph *graph;
	LodeLoopBytesFunc bytes;
	const bool *leaves; /* of each node: it may lead out of these nodes, as a return does; NULL:
	                       not known, and so are rounds */
	const void *data;
} LodeLoopCode;

enum { LODE_LOOP_REGISTERS = 16, LODE_LOOP_UNKNOWN = LODE_LOOP_REGISTERS, LODE_LOOP_SAME };

/* A register at the head, and a constant. */
typedef struct {
	uint64_t constant; /* modulo 2 to the width */
	uint8_t origin;    /* LODE_LOOP_UNKNOWN: it is no such */
	uint8_t width;     /* bits that hold */
} LodeLoopValue;

/* A register at the head times a factor, and what is the same in each iteration; of 64 bits. */
typedef struct {
	uint64_t identity; /* of the instructions that made it: another one is another form */
	int64_t factor;
	uint8_t origin; /* LODE_LOOP_SAME: the same in each iteration; LODE_LOOP_UNKNOWN: neither */
	bool is_scaled; /* the factor is not known, but the same each time */
} LodeLoopForm;

/* A register before an instruction. */
typedef struct {
	LodeLoopValue value;
	LodeLoopForm form;
} LodeLoopRegister;

typedef struct {
	int64_t steps[LODE_LOOP_REGISTERS]; /* 0: it does not advance by a constant */
	uint8_t widths[LODE_LOOP_REGISTERS];
	LodeLoopForm ends[LODE_LOOP_REGISTERS]; /* when the head comes again */
	uint32_t unchanged;                     /* 1 << register: what the loop does not change */
	/* Private. */
	GArray *nodes; /* Node, ascending */
} LodeLoopForms;

void lode_loop_forms_init(LodeLoopForms *self);
void lode_loop_forms_clear(LodeLoopForms *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LodeLoopForms, lode_loop_forms_clear)

/* Registers in `inner`, a loop inside, are those of its first iteration; NULL: none. False: the
 * loop is too large. */
bool lode_loop_forms_find(LodeLoopForms *self, const LodeNaturalLoop *loop,
	const LodeLoopCode *code, const LodeNaturalLoop *inner);

/* Before a node; unknown, where that is not reached, or `number` is no general register. */
LodeLoopRegister lode_loop_forms_at(const LodeLoopForms *self, uint32_t node, unsigned number);

/* Registers before a node of the loop, in the order of their encoding. */
typedef struct {
	uint32_t node;
	uint32_t known; /* 1 << register */
	const uint64_t *registers;
} LodeLoopSample;

/* The value that a register had at the head in the sample's iteration. False: it is not known. */
bool lode_loop_forms_at_head(const LodeLoopForms *self, const LodeLoopSample *sample,
	unsigned number, uint64_t *out_value, uint8_t *inout_width);

typedef enum {
	LODE_ITERATIONS_KNOWN,
	LODE_ITERATIONS_UNKNOWN,       /* no register advances, or its value is not there */
	LODE_ITERATIONS_OF_OTHER_CALL, /* an unchanged register differs */
	LODE_ITERATIONS_CONTRADICTORY, /* registers disagree: it was left in between */
} LodeIterations;

/* Iterations from one sample to the other; below 0 where the loop began again in between. */
LodeIterations lode_loop_forms_between(const LodeLoopForms *self, const LodeLoopSample *first,
	const LodeLoopSample *second, int64_t *out_n);
