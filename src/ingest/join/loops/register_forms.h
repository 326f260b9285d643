/* SPDX-License-Identifier: MIT */
/*
 * Registers in a loop as multiples of what they were at its head:
 *
 *   head:  rdx = d, rdi and rcx unchanged
 *          mov r9, rdx          r9 = d
 *          imul rdx, rdi        rdx = d × something that is the same in each iteration
 *          add rdx, rcx         rdx = likewise, + something that is the same
 *          lea r9, [r9 + 1]
 *          mov rdx, r9          at the end rdx = d + 1
 *
 * A value has the same form wherever it was made by the same instructions; what differs where ways
 * meet is unknown. Private to ingest/join/.
 */
#pragma once

#include "images/instructions/register_advance.h"
#include "ingest/join/loops/natural_loops.h"

enum { LODE_FORM_REGISTERS = 16, LODE_FORM_UNKNOWN = LODE_FORM_REGISTERS, LODE_FORM_SAME };

typedef struct {
	uint64_t identity; /* of the instructions that made it */
	int64_t factor;
	uint8_t origin; /* a register at the head, times factor, plus what is the same each time;
	                   LODE_FORM_SAME: that alone; LODE_FORM_UNKNOWN: neither */
	bool is_scaled; /* the factor is not known, but the same each time */
} LodeRegisterForm;

/* The terms of each node of a function; `is_known` false: its result is no such. */
typedef struct {
	LodeRegisterTerms terms;
	bool is_known;
} LodeNodeTerms;

typedef struct {
	GArray *slots;   /* uint32_t × nodes: 1 + place in `states`; 0: not in the loop */
	GArray *states;  /* LodeRegisterForm × registers × nodes of the loop */
	GArray *order;   /* uint32_t: nodes of the loop, ascending */
	GArray *reached; /* bool × nodes of the loop */
	LodeRegisterForm end[LODE_FORM_REGISTERS]; /* when the head comes again */
} LodeRegisterForms;

void lode_register_forms_init(LodeRegisterForms *self);
void lode_register_forms_clear(LodeRegisterForms *self);

/* The forms in a loop of which `unchanged` (1 << register) stay the same. Ways back to `inner`,
 * the head of a loop inside, are left out, so that forms there are those of its first iteration;
 * LODE_NONE: none. False: the loop is too large. */
bool lode_register_forms_find(LodeRegisterForms *self, const LodeNaturalLoop *loop,
	const LodeNodeTerms *terms, uint32_t unchanged, const LodeNaturalLoop *inner);

/* For a register before a node; `number` may be no general register: unknown. */
LodeRegisterForm lode_register_forms_at(
	const LodeRegisterForms *self, uint32_t node, unsigned number);
